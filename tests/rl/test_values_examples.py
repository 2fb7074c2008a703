"""The examples of learning from logged transitions, small."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("gymnasium")

from examples.large_grid import Config, rooms_map, run
from trimetric.rl import World


def test_a_metric_finds_unseen_goals_and_an_mlp_does_not(tmp_path: Path) -> None:
    config = Config(
        size=12,
        rooms=2,
        steps=6000,
        epochs=12,
        pairs=8000,
        judged=300,
        methods=("constrained",),
        picture=tmp_path / "g.png",
    )
    scores = run(config)
    assert scores["metric, constrained"].success > 0.9
    assert scores["MLP, constrained"].success < scores["metric, constrained"].success - 0.2
    assert (tmp_path / "g.png").stat().st_size > 20_000


def test_the_large_map_is_connected_and_has_one_way_doors() -> None:
    text = rooms_map(50, 3, 0)
    assert len(text.splitlines()) == len(text.splitlines()[0]) == 50
    assert set(text) == set("# ^v<>\n") - (set("^v<>") - set(text))
    assert set(text) & set("^v<>")
    assert World(text).num_states > 2000  # it refuses a map with cells that cannot be reached
