"""`python -m trimetric` is the command `trimetric`."""

import sys

from trimetric.cli import main

if __name__ == "__main__":
    sys.exit(main())
