"""`python -m reproduction.experiments.figure1`"""

import tyro

from reproduction.experiments.figure1.experiment import demo

if __name__ == "__main__":
    tyro.cli(demo, prog="python -m reproduction.experiments.figure1")
