"""`python -m examples.demo`"""

import tyro

from examples.demo.run import Demo

if __name__ == "__main__":
    tyro.cli(Demo, prog="python -m examples.demo").run()
