"""Trimetric's distances within other libraries.  Each module needs the library that it is named after."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(__name__, submodules=["pytorch_metric_learning", "sklearn"])
