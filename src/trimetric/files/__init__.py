"""Files of pairs, matrices, edges and features: they are read fast, and errors name the line that is wrong.

- `columns.py`: the reader of tables (CSV, TSV, Parquet, NPZ), on `text.py` and `arrays.py`.  On top of it: `pairs.py`,
  `edges.py` and `features.py`.
- `matrices.py`: square matrices, read and written; `tsplib.py` and `solver_json.py` are formats of solvers, and
  `json_instances.py` replaces the matrix of such a JSON file.  `matrix_pairs.py` turns a matrix of distances into
  pairs.
- `writing.py` writes tables; `errors.py` has the error that all of them raise.

Nothing is imported here, so that a command line that only shows its help does not load NumPy.
"""
