"""Trimetric's distances within other libraries.  Most modules need the library that they are named after."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__, submodules=["huggingface", "jax", "pytorch_metric_learning", "sklearn", "torchqmet"]
)
