"""The command `trimetric`."""

from trimetric.cli.main import main as main
