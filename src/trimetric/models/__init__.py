"""What is learned and kept: encoders, heads by name, and trained models with their files.

The public names are listed in `__init__.pyi` and imported on first use, so that the command line can read the names of
the heads without torch.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
