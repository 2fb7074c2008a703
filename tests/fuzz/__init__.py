"""Fuzzing of every reader of files: `make fuzz MINUTES=30 SEED=0`, and a short run in `tests/test_fuzz.py`.

- `reader.py`: what a reader promises, and one attempt to break it;
- `mutations.py`: changes to bytes and to text; `containers.py`: changes inside archives, whose checksums are then
  made right again;
- `table_readers.py`, `graph_readers.py`, `state_readers.py`: the registry, one entry per reader;
- `campaign.py`: many inputs, with feedback; `__main__.py`: all readers in turn, in processes of their own.
"""
