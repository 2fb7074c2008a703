"""One page with all results: no request, light and dark, and written whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import trimetric as tm
from examples.demo.city_data import City
from examples.demo.city_models import CityModel
from examples.demo.costs import Cost, size_of
from examples.demo.four_nodes import EUCLIDEAN_FLOOR, PlaneFit
from examples.demo.pictures import Picture
from examples.demo.repair import Repair
from examples.demo.tables import Table
from trimetric._support.atomic import replacing  # a killed run leaves the page of the run before


@dataclass(frozen=True, kw_only=True)
class Content:
    """What the page shows."""

    fits: dict[str, PlaneFit]
    """part 1, by the name of the model"""
    plane_tables: list[Table]
    plane_pictures: list[Picture]
    city: City
    """part 2, the data"""
    models: dict[str, CityModel]
    city_tables: list[Table]
    audits: Table
    city_map: Picture
    city_pictures: list[Picture]
    cost: Cost
    model_file: Path
    """the saved model, which the commands on the page use"""
    repair: Repair
    """part 3"""
    repair_tables: list[Table]
    repair_pictures: list[Picture]
    matrix_file: Path
    """the measured times"""
    settings: dict[str, str]
    """of the run"""
    seconds: float
    """the time that all computations took"""


def write_page(file: Path, content: Content) -> Path:
    """Write the page.

    Args:
        file: the page.
        content: what it shows.

    Returns:
        The path of the page.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template("page.html.jinja").render(
        vars(content),
        floor=EUCLIDEAN_FLOOR,
        size_of=size_of,
        version=tm.__version__,
        torch_version=torch.__version__,
    )
    with replacing(file) as stream:
        stream.write(html.encode())
    return file
