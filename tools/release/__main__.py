"""Build the wheel and the source archive, check them, and with --try use the wheel in fresh environments.

examples:
  python -m tools.release                           build into dist/ and check what is inside
  python -m tools.release --try                     also install the wheel without and with extras, and use it
  python -m tools.release --try --python python3.12   with another interpreter
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import trimetric
from tools.release.building import ROOT, ReleaseError, build, check_archive, check_description, check_wheel
from tools.release.trying import Environment


def main() -> int:
    """Run the command.

    Returns:
        The exit code: 1 where something must not be published.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--try", action="store_true", dest="use", help="use the wheel in fresh environments")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of these environments")
    options = parser.parse_args()
    try:
        wheel = _build_and_check()
        if options.use:
            _try(wheel, options.python)
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _build_and_check() -> Path:
    version = trimetric.__version__
    wheel, archive = build(ROOT / "dist")
    check_description(wheel, archive)
    _say("twine check --strict")
    _say(f"{wheel.name}: {check_wheel(wheel, version)} files, those of the package and no others")
    _say(f"{archive.name}: {check_archive(archive, version)} files, with sources, tests and docs")
    return wheel


def _try(wheel: Path, python: str) -> None:
    with tempfile.TemporaryDirectory(prefix="trimetric-release-") as folder:
        environment = Environment.make(python, Path(folder), _say)
        environment.install(wheel)
        environment.try_core(trimetric.__version__)
        environment.try_missing_extras()
        environment.install(wheel, "[all]")
        environment.try_all_extras()


def _say(text: str) -> None:
    print(f"ok  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
