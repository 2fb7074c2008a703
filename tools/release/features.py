"""The features that need an extra: how to use each of them, in a folder with the files of `write_inputs`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.town import town_map

ROOMS = "#######\n#     #\n# ### #\n#     #\n#######\n"
QUICK = ("--epochs", "1", "--dim", "4", "--quiet")
GRAPH = """
import numpy as np, trimetric as tm
tails, heads = np.array([0, 1, 2]), np.array([1, 2, 0])
graph = tm.graphs.Graph.from_arcs(3, tails, heads, np.ones(3), directed=True)
"""


@dataclass(frozen=True)
class Feature:
    """A feature that needs an extra.

    Attributes:
        extra: the extra.
        about: what it is.
        words: the arguments of `trimetric`, for a feature of the command.
        code: the Python code, for a feature of the library.
    """

    extra: str
    about: str
    words: tuple[str, ...] = ()
    code: str = ""


FEATURES = (
    Feature("tables", "fit a Parquet file", ("fit", "pairs.parquet", "-o", "parquet.safetensors", *QUICK)),
    Feature(
        "graphs",
        "fit a map of OpenStreetMap",
        ("fit", "--graph", "town.osm", "-o", "town.safetensors", "--cache", "cache", "--sample", "500", *QUICK),
    ),
    Feature(
        "graphs",
        "fit a map model",
        ("fit", "--graph", "edges.csv", "-o", "edges-map.safetensors", "--cache", "cache", "--quiet"),
    ),
    Feature("graphs", "a travel matrix", ("matrix", "town.osm", "places.csv", "-o", "travel.npy", "--quiet")),
    Feature("serve", "serve a map", ("serve", "town.osm", "--check")),
    Feature("graphs", "a path by A*", code=GRAPH + "assert tm.graphs.shortest_path(graph, 0, 2).length == 2"),
    *(
        Feature("graphs", f"engine {name}", code=f"{GRAPH}tm.graphs.ShortestPaths(graph, engine={name!r}).engine(1)")
        for name in ("hierarchy", "bidirectional", "landmarks")
    ),
    Feature(
        "graphs",
        "paths by several jobs",
        code=GRAPH + "tm.graphs.ShortestPaths(graph, engine='scipy', jobs=2).from_nodes([0, 1, 2])",
    ),
    Feature(
        "values",
        "values fit --map",
        ("values", "fit", "--map", "rooms.txt", "-o", "map.safetensors", "--steps", "300", "--pairs", "200", *QUICK),
    ),
    Feature(
        "values",
        "values fit --env",
        ("values", "fit", "--env", "trimetric/FourRoom-v0", "-o", "env.safetensors", "--steps", "300", *QUICK),
    ),
    Feature("values", "a Gymnasium environment", code="import trimetric as tm; tm.rl.GridEnvironment"),
    Feature(
        "sklearn",
        "a scikit-learn estimator",
        code="""
import numpy as np
from trimetric.integrations.sklearn import DistanceRegressor
x = np.random.default_rng(0).normal(size=(40, 4))
DistanceRegressor(epochs=1, embedding_dim=4).fit(x, np.abs(x[:, :2] - x[:, 2:]).sum(1)).predict(x)
""",
    ),
    Feature(
        "metric-learning",
        "a distance for pytorch-metric-learning",
        code="""
import torch, trimetric as tm
from trimetric.integrations.pytorch_metric_learning import TriangleDistance
from pytorch_metric_learning.losses import TripletMarginLoss
distance = TriangleDistance(tm.WideNorm(4))
TripletMarginLoss(distance=distance)(torch.randn(6, 4), torch.tensor([0, 0, 1, 1, 2, 2])).backward()
""",
    ),
    Feature("onnx", "export to ONNX", ("export", "city/model.safetensors", "-o", "model.onnx", "--quiet")),
)

CLUSTER = Feature(
    "cluster",
    "paths on a Dask cluster",
    code=GRAPH
    + """
import joblib
from distributed import Client
if __name__ == "__main__":
    with Client(n_workers=1, processes=False, dashboard_address=None), joblib.parallel_config(backend="dask"):
        assert tm.graphs.ShortestPaths(graph, engine="scipy").from_nodes([0, 1, 2]).shape == (3, 3)
""",
)
ONNX_RUNS = Feature(
    "onnx",
    "the exported model runs",
    code="""
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession("model.onnx")
inputs = {item.name: np.zeros(3, np.int64) for item in session.get_inputs()}
assert session.run(None, inputs)[0].shape == (3,)
""",
)
NETWORKX = Feature("graphs", "a NetworkX graph", code=GRAPH + "tm.graphs.to_networkx(graph)")
MACHINE_CODE = Feature(
    "solvers",
    "loops in machine code",
    code="from trimetric.kernels.machine_code import HAS_NUMBA; assert HAS_NUMBA",
)
WITH_ALL = (*FEATURES, ONNX_RUNS, CLUSTER, NETWORKX, MACHINE_CODE)
"""What works with every extra.  Of the last ones nothing is said without it: the caller's own code imports the library,
torch brings it along (NetworkX), or it only makes things faster."""


def write_inputs(folder: Path) -> None:
    """Write the files that the features read, apart from `city/`, which `trimetric example` and `fit` make."""
    import pyarrow as pa
    from pyarrow import parquet

    (folder / "rooms.txt").write_text(ROOMS)
    (folder / "town.osm").write_text(town_map())
    pairs = [(a, b, float(abs(ord(a) - ord(b)))) for a in "abcdefgh" for b in "abcdefgh" if a != b]
    columns = dict(zip(("from", "to", "distance"), map(list, zip(*pairs, strict=True)), strict=True))
    parquet.write_table(pa.table(columns), folder / "pairs.parquet")
    edges = "".join(f"{a},{b},{d}\n" for a, b, d in pairs if d <= 2)
    (folder / "edges.csv").write_text("from,to,weight\n" + edges)
    (folder / "places.csv").write_text("id,lon,lat\na,-8.0,41.0\nb,-8.002,41.002\n")
    (folder / "matrix.csv").write_text("0,1,5\n1,0,1\n5,1,0\n")
