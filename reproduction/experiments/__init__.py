"""The experiments of the paper and our own, one folder each."""
