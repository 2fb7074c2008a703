"""Learned distances that can never break the triangle inequality.

The public names are listed in `__init__.pyi`, once, and imported on first use: the command line answers `--help` before
torch has loaded.
"""

import lazy_loader as _lazy

from trimetric._support import moved as _moved

__version__ = "0.2.0"

_public_name, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
_moved.install()


def __getattr__(name: str) -> object:
    try:
        return _public_name(name)
    except AttributeError:
        return _moved.attribute(name)
