"""What a distance promises (`axioms`), and measuring on data whether it keeps that.

Norms and distances import the axioms from here, and the measurement imports norms and distances.  So the names of the
measurement, listed in `__init__.pyi`, are imported on first use.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
