"""Travel matrices: from places on a road map to exact durations and distances of the same routes.

The public names are listed in `__init__.pyi`, once, and imported on first use.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
