"""The job in a minute or two: fit four nodes, learn a one-way city from a CSV, repair a matrix, write one page.

`python -m examples.demo` (or `make demo`) runs it.  Each part computes its results in a file of its own:
`four_nodes.py`, `city_data.py` with `city_models.py`, and `repair.py`.  `tables.py` and `pictures.py` show them, on the
terminal and on the page that `page.py` writes.
"""
