"""The frame of the experiments: cells in, rows in a ledger, tables and figures out."""
