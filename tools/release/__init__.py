"""Build what is published, and try it as a user would (`make dist`, `make dist-check`)."""
