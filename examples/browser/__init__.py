"""A page that answers the distances of a model in a browser, without a server and without a network."""
