"""What every option of every sub-command is tried with: modes, values and input files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rl.small_worlds import box_walks

import trimetric as tm
from trimetric.cli import main

TINY = ["--epochs", "2", "--dim", "4", "--batch-size", "16"]
COLUMNS = ["--feature-columns", "x", "y"]
OUT = ["-o", "out/m.safetensors"]
WALK = [*OUT, "--epochs", "2", "--pairs", "60", "--dim", "4", "--head", "wide"]
ALONE = ["--steps", "50", "--batch-size", "16", "--dim", "8", "--widths", "8"]
FEW = [*ALONE, "--policy-steps", "50", "--horizon", "3", "--states", "20"]
MODES: dict[str, dict[str, list[str]]] = {
    "example": {"": ["-o", "out/city"]},
    "fit": {
        "pairs": ["pairs.csv", *OUT, *TINY],
        "features": [
            "pairs.csv",
            *OUT,
            *TINY,
            "--features",
            "objects.csv",
            *COLUMNS,
            "--head",
            "recommended",
            "--widths",
            "8",
        ],
        "matrix": ["matrix.csv", *OUT, *TINY, "--matrix"],
        "edges": ["edges.csv", *OUT, *TINY, "--edges", "--loss", "discounted"],
        "network": ["--graph", "edges.csv", *OUT, *TINY, "--widths", "8"],
        "map": ["--graph", "town.osm", *OUT, *TINY, "--widths", "8", "--sample", "45"],
        "map model": ["--graph", "streets.csv", *OUT, "--epochs", "2", "--bytes-per-node", "48"],
    },
    "predict": {
        "pairs": ["map.safetensors", "pairs.csv"],
        "names": ["map.safetensors", "--from", "a", "--to", "b", "c"],
        "nearest": ["map.safetensors", "--from", "a", "--nearest", "2"],
        "all": ["map.safetensors", "--all-pairs"],
        "features": ["map.safetensors", "--all-pairs", "--features", "objects.csv"],
        "ids": ["map.safetensors", "--from-file", "ids.csv", "--to", "b", "c"],
        "places": ["map.safetensors", "--from-file", "places.csv", "--to", "b", "c"],
    },
    "embed": {
        "objects": ["map.safetensors", "-o", "out/p.csv"],
        "features": ["map.safetensors", "-o", "out/p.csv", "--features", "objects.csv"],
    },
    "index build": {"": ["map.safetensors", "-o", "out/m.index"]},
    "audit": {
        "objects": ["map.safetensors"],
        "random": ["map.safetensors", "--random", "--points", "9"],
        "matrix": ["broken.csv"],
        "costs": ["costs.json"],
    },
    "info": {"": ["map.safetensors"]},
    "export": {"": ["map.safetensors", "-o", "out/m.pt2"]},
    "matrix": {
        "map": ["town.osm", "stops.csv", "-o", "out/m.csv"],
        "both": ["town.osm", "stops.csv", "-o", "out/m.json", "--annotations", "duration", "distance"],
        "whole": ["town.osm", "stops.csv", "-o", "out/m.json", "--integers"],
        "graph": ["edges.csv", "ids.csv", "-o", "out/m.parquet"],
        "model": ["town.osm", "stops.csv", "-o", "out/m.csv", "--model", "town.safetensors"],
    },
    "repair": {
        "active set": ["even.csv", "-o", "out/x.csv"],
        "decrease": ["broken.csv", "-o", "out/x.csv", "--method", "decrease-only"],
        "costs": ["costs.json", "-o", "out/x.json"],
    },
    "metrize": {
        "model": ["map.safetensors", *OUT, "--steps", "40"],
        "table": ["pairs.csv", "-o", "out/x.csv", "--steps", "40"],
    },
    "serve": {
        "map": ["town.osm", "--check"],
        "graph": ["streets.csv", "--check"],
        "model": ["map.safetensors", "--check"],
    },
    "rl fit": {
        "actor": ["episodes.npz", *OUT, *FEW],
        "graph": ["episodes.npz", *OUT, *FEW, "--policy", "graph"],
        "alone": ["episodes.npz", *OUT, *ALONE, "--policy", "none", "--objective", "contrastive"],
    },
    "values fit": {
        "dataset": ["--dataset", "log.npz", *WALK],
        "td": ["--dataset", "log.npz", *WALK, "--method", "td"],
        "map": ["--map", "rooms.txt", *WALK, "--steps", "200"],
        "env": ["--env", "MountainCar-v0", *WALK, "--steps", "200", "--bins", "30"],
    },
    "rl evaluate": {
        "world": ["walker.safetensors", "--world", "directed", "--episodes", "2", "--max-steps", "40"],
        "env": ["mover.safetensors", "--env", "trimetric/Maze-v0", "--episodes", "30", "--max-steps", "40"],
    },
    "rl diagnose": {"": ["walker_model.safetensors", "episodes.npz", "--samples", "100"]},
    "values plan": {"": ["walks.safetensors", "log.npz", "--pairs", "20", "--max-steps", "3"]},
}
# A value for each option that differs from its default and from that of the modes; no words for a flag.
VALUES: dict[str, str] = {
    "--all-pairs": "",
    "--allow-origin": "https://example.org",
    "--batch-size": "3",
    "--annotations": "distance",
    "--bins": "3",
    "--bytes-per-node": "32",
    "--cache": "out/cache",
    "--check": "",
    "--concave-units": "2",
    "--cost": "distance",
    "--dask": "abacus://here:1",
    "--dataset": "out/other.npz",
    "--device": "abacus",
    "--dim": "6",
    "--discount": "0.5",
    "--distance-column": "cost",
    "--drop-unreachable": "",
    "--edges": "",
    "--env": "MountainCar-v0",
    "--episodes": "3",
    "--epochs": "1",
    "--feature-columns": "y",
    "--features": "others.csv",
    "--floor": "0.3",
    "--force": "",
    "--format": "ortools",
    "--from": "c",
    "--from-column": "start",
    "--from-file": "ids.csv",
    "--gamma": "0.5",
    "--graph": "edges.csv",
    "--guarantee": "lower",
    "--head": "interval",
    "--held-out": "0.4",
    "--horizon": "1",
    "--host": "0.0.0.0",
    "--id-column": "label",
    "--index": "map.index",
    "--integers": "",
    "--json": "",
    "--landmarks": "3",
    "--largest": "",
    "--leaf-size": "3",
    "--learning-rate": "0.1",
    "--loss": "absolute",
    "--map": "rooms.txt",
    "--matrix": "",
    "--max-body": "5000",
    "--max-cells": "99",
    "--max-connections": "7",
    "--max-coordinates": "50",
    "--max-headers": "4096",
    "--max-seconds": "1e-9",
    "--max-snap": "1e5",
    "--max-steps": "1",
    "--max-wait": "3",
    "--method": "",
    "--missing": "",
    "--model": "town.safetensors",
    "--nearest": "1",
    "--objective": "eikonal",
    "--overwrite": "",
    "--pairs": "30",
    "--patience": "1",
    "--picture": "out/p.png",
    "--pivots": "2",
    "--points": "2",
    "--policy": "waypoints",
    "--policy-steps": "100",
    "--port": "8080",
    "--precision": "int8",
    "--push": "log",
    "--queries": "trips.csv",
    "--quiet": "",
    "--random": "",
    "--repeat": "2",
    "--require": "symmetric",
    "--restart": "",
    "--reverse": "",
    "--sample": "40",
    "--samples": "40",
    "--schedule": "step",
    "--seed": "1",
    "--states": "9",
    "--steps": "100",
    "--symmetric": "",
    "--to": "d",
    "--to-column": "end",
    "--to-file": "ids.csv",
    "--train": "learned_from.npz",
    "--trees": "3",
    "--tolerance": "0.5",
    "--truth": "pairs.csv",
    "--unit": "minutes",
    "--validation": "0.4",
    "--waves": "1",
    "--weight": "time",
    "--workers": "3",
    "--world": "mountain-car",
    "--weight-decay": "0.5",
    "--widths": "5",
}
OUTPUTS = {
    "example": "out/town",
    "predict": "out/d.csv",
    "embed": "out/q.parquet",
    "index build": "out/n.index",
    "export": "out/n.pt2",
    "matrix": "out/n.npz",
    "repair": "out/y.csv",
}
# Options that mean something else in a command than in others.
OWN_VALUES = {
    ("matrix", "--to"): "more_stops.csv",
    ("matrix", "--weight"): "length",
    ("rl evaluate", "--env"): "trimetric/FourRoom-v0",
}
WEIGHTS = {"serve": "length"}
METHODS = {"repair": "dykstra", "values fit": "td"}
# Options that matter for some inputs only are tried on these.
INSTEAD: dict[str, dict[str, str]] = {
    "--drop-unreachable": {"pairs.csv": "endless.csv", "matrix.csv": "endless_matrix.csv", "edges.csv": "parts.csv"},
    "--largest": {"edges.csv": "parts.csv", "streets.csv": "parts.csv"},
    "--matrix": {"pairs.csv": "matrix.csv"},
    "--edges": {"pairs.csv": "edges.csv"},
    "--missing": {"even.csv": "gaps.csv", "broken.csv": "gaps.csv", "costs.json": "gaps.csv"},
    "--overwrite": dict.fromkeys(("even.csv", "broken.csv", "costs.json", "out/x.csv", "out/x.json"), "out/same.csv"),
    "--max-snap": {"places.csv": "far.csv", "stops.csv": "far.csv"},
    "--env": {"log.npz": "out/new.npz"},
    "--map": {"log.npz": "out/new.npz"},
}
ALSO = {
    ("fit", "--features"): COLUMNS,
    ("fit", "--patience"): ["--learning-rate", "1", "--epochs", "15", "--schedule", "constant"],
    ("values fit", "--env"): ["--steps", "50"],
    ("values fit", "--map"): ["--steps", "50"],
    ("values fit", "--overwrite"): ["--dataset", "out/log.npz"],
}
# One input for each way to train is enough for options of the training itself.
OF_TRAINING = {"--epochs", "--batch-size", "--learning-rate", "--weight-decay", "--schedule", "--dim", "--head"}
OF_TRAINING |= {"--restart", "--quiet", "--json", "--dask", "--seed", "--patience", "--loss", "--device", "--output"}
TRAINED = {
    "fit": ("pairs", "network", "map model"),
    "metrize": ("model",),
    "rl fit": ("graph",),
    "values fit": ("dataset",),
    "matrix": ("map",),
}
# With the other words of `ALSO`, a map model is refused for these already.
LEFT_OUT = {("fit", "map model", "--patience"), *(("serve", mode, "--check") for mode in MODES["serve"])}
NEVER_DONE = {
    "--check": "without it the service answers until it is stopped",
    "--device": "there is one device here",
    "--dask": "there is no cluster here",
    "--world": "no policy fits two of the worlds that need no MuJoCo",
}


def write_inputs() -> None:
    box_walks(6, 12).write("episodes.npz")
    names = "abcdefgh"
    random = np.random.default_rng(0)
    points = random.normal(size=(8, 2))
    matrix = np.abs(points[:, None] - points).sum(-1) + np.maximum(points[None, :, 0] - points[:, None, 0], 0)

    def table(file: str, header: str, rows: list[tuple[Any, ...]]) -> None:
        Path(file).write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")

    # No object is at a distance from itself, in whichever columns the ends are.
    ends = [(i, j) for i in range(8) for j in range(8) if j not in (i, (i + 1) % 8)]
    pairs = [(names[i], names[j], matrix[i, j], names[i - 7], names[j - 1], i + j) for i, j in ends]
    table("pairs.csv", "from,to,distance,start,end,cost", pairs)
    table("endless.csv", "from,to,distance,start,end,cost", [*pairs, ("a", "b", "inf", "b", "c", 1)])
    ring = [(i, (i + k) % 8) for i in range(8) for k in (1, 2)]
    edges = [(names[i], names[j], matrix[i, j], names[i - 5], names[j - 4], 1 + i + j) for i, j in ring]
    table("edges.csv", "from,to,weight,start,end,cost", edges)
    # Large enough that training beats landmarks.
    streets = [(i, (i + k) % 120) for i in range(120) for k in (1, 7, 31)]
    costs = random.integers(1, 100, len(streets)).tolist()
    rows = [
        (f"n{i}", f"n{j}", cost, f"n{(i - 4) % 120}", f"n{(j + 4) % 120}", cost + 1)
        for (i, j), cost in zip(streets, costs, strict=True)
    ]
    table("streets.csv", "from,to,weight,start,end,cost", rows)
    trips = [(f"n{i}", f"n{(i + 1) % 120}", f"n{i}", f"n{(i + 2) % 120}") for i in range(0, 120, 3)]
    table("trips.csv", "from,to,start,end", trips)
    table("parts.csv", "from,to,weight,start,end,cost", [*edges, ("x", "a", 1, "x", "a", 1)])
    named: dict[str, Any] = {"delimiter": ",", "header": ",".join(names), "comments": ""}
    np.savetxt("matrix.csv", matrix, **named)
    matrix[0, 1] = np.inf
    np.savetxt("endless_matrix.csv", matrix, **named)
    broken = random.uniform(1, 9, size=(12, 12)) * (1 - np.eye(12))
    np.savetxt("broken.csv", broken, delimiter=",")
    np.savetxt("even.csv", broken + broken.T, delimiter=",")
    both = {"durations": (broken + broken.T).tolist(), "distances": (broken + 2 * broken.T).tolist()}
    Path("costs.json").write_text(json.dumps(both))
    broken[0, 1] = np.nan
    np.savetxt("gaps.csv", broken, delimiter=",")
    for file, factor in {"objects.csv": 1, "others.csv": 3}.items():
        rows = zip(names, reversed(names), *(factor * points).T, strict=True)
        table(file, "id,label,x,y", list(rows))
    table("ids.csv", "id,label", [("d", "e")])
    table("places.csv", "id,label,lon,lat", [("home", "work", -8.0001, 41.0)])
    table("far.csv", "id,label,lon,lat", [("home", "work", -8.1, 41.0)])
    stops = [("home", "h", -7.9985, 41.0025), ("work", "w", -7.996, 41.0049), ("school", "s", -7.993, 41.005)]
    table("stops.csv", "id,label,lon,lat", stops)
    table("more_stops.csv", "id,label,lon,lat", [("shop", "p", -7.995, 41.003)])
    places = torch.tensor([[-8.0, 41.0 + 0.001 * i] for i in range(8)])
    distance = tm.NormInduced(tm.WideNorm(2, components=3, width=3))
    features, notes = torch.tensor(points, dtype=torch.float32), {"feature_columns": ["x", "y"], "unit": "metres"}
    tm.Model(distance, list(names), features, notes, places).save("map.safetensors")
    tm.search.Index(tm.Model.load("map.safetensors")).save("map.index")
    nodes_of_town = torch.tensor(random.normal(size=(10, 2)), dtype=torch.float32)
    town = tm.Model(distance, [str(i) for i in range(1, 11)], nodes_of_town, {"unit": "seconds"})
    town.save("town.safetensors")
    nodes = "".join(f'<node id="{i}" lat="{41 + 0.001 * (i * i % 11)}" lon="{-8 + 0.001 * i}"/>' for i in range(1, 11))
    ring_road = "".join(f'<nd ref="{i}"/>' for i in [*range(1, 11), 1])
    short_cut = '<nd ref="2"/><nd ref="7"/><tag k="oneway" v="yes"/>'
    roads = {1: (ring_road, "primary"), 2: (short_cut, "residential")}
    ways = "".join(f'<way id="{i}">{nd}<tag k="highway" v="{kind}"/></way>' for i, (nd, kind) in roads.items())
    Path("town.osm").write_text(f'<osm version="0.6">{nodes}{ways}</osm>')
    Path("rooms.txt").write_text("#########\n#   >   #\n#   #   #\n#   <   #\n#########\n")
    walk = ["values", "fit", "--map", "rooms.txt", *WALK, "--steps", "300", "--dataset", "log.npz", "--quiet"]
    assert main(["walks.safetensors" if word == OUT[1] else word for word in walk]) == 0
    write_episodes()


def write_episodes() -> None:
    """Logs, policies and a model for the commands `rl`."""
    for file, seed in {"episodes.npz": 0, "learned_from.npz": 1}.items():
        tm.rl.directed_trajectories(seed=seed, episodes=3)[0].write(file)
    torch.manual_seed(0)
    tm.rl.save_policy(tm.rl.ActorPolicy(features=2, actions=2, low=[-1.0, -1.0], high=[1.0, 1.0]), "walker.safetensors")
    torch.manual_seed(0)
    tm.rl.save_policy(tm.rl.ActorPolicy(features=2, actions=4, discrete=True), "mover.safetensors")
    tm.Model(tm.Siamese(tm.MLP(2, 4), tm.Euclidean(4))).save("walker_model.safetensors")
