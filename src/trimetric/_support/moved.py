"""Modules of version 0.1 by their old names, for one release: each import warns and names the new place."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED: dict[str, str] = {
    "trimetric.activations": "trimetric.norms.activations",
    "trimetric.adapters": "trimetric.integrations",
    "trimetric.adapters.pytorch_metric_learning": "trimetric.integrations.pytorch_metric_learning",
    "trimetric.architecture": "trimetric._support.described",
    "trimetric.atomic": "trimetric._support.atomic",
    "trimetric.audit_report": "trimetric._audit.report",
    "trimetric.axioms": "trimetric._audit.axioms",
    "trimetric.bootstrap": "trimetric.training.teachers",
    "trimetric.checkpoint": "trimetric._support.tensor_files",
    "trimetric.checks": "trimetric._support.checks",
    "trimetric.compiled": "trimetric.training.compilation",
    "trimetric.constraints": "trimetric.norms.constraints",
    "trimetric.encoder_inputs": "trimetric.distances.encoder_inputs",
    "trimetric.encoders": "trimetric.models.encoders",
    "trimetric.equal_rows": "trimetric.kernels.equal_rows",
    "trimetric.estimators": "trimetric.integrations.sklearn",
    "trimetric.extras": "trimetric._support.optional",
    "trimetric.graphs.accuracy": "trimetric.graphs.learning.accuracy",
    "trimetric.graphs.astar": "trimetric.graphs.heuristics.astar",
    "trimetric.graphs.astar_kernels": "trimetric.graphs.heuristics.astar_kernels",
    "trimetric.graphs.bounds": "trimetric.graphs.learning.bounds",
    "trimetric.graphs.cache": "trimetric.graphs.files.cache",
    "trimetric.graphs.comparison": "trimetric.graphs.learning.comparison",
    "trimetric.graphs.convert": "trimetric.graphs.files.convert",
    "trimetric.graphs.dijkstra_kernels": "trimetric.graphs.paths.dijkstra_kernels",
    "trimetric.graphs.dimacs": "trimetric.graphs.files.dimacs",
    "trimetric.graphs.edge_lists": "trimetric.graphs.files.edge_lists",
    "trimetric.graphs.engines": "trimetric.graphs.paths.engines",
    "trimetric.graphs.features": "trimetric.graphs.learning.features",
    "trimetric.graphs.grid_worlds": "trimetric.graphs.generators.grid_worlds",
    "trimetric.graphs.heap": "trimetric.graphs.paths.heap",
    "trimetric.graphs.heuristic": "trimetric.graphs.heuristics.potentials",
    "trimetric.graphs.landmarks": "trimetric.graphs.paths.landmarks",
    "trimetric.graphs.learned_potentials": "trimetric.graphs.heuristics.learned_potentials",
    "trimetric.graphs.osm": "trimetric.graphs.files.osm",
    "trimetric.graphs.pair_sampling": "trimetric.graphs.paths.pair_sampling",
    "trimetric.graphs.parallel": "trimetric.graphs.paths.parallel",
    "trimetric.graphs.potential_kernels": "trimetric.graphs.paths.potential_kernels",
    "trimetric.graphs.shortest_paths": "trimetric.graphs.paths.shortest_paths",
    "trimetric.graphs.torus": "trimetric.graphs.generators.torus",
    "trimetric.graphs.trees": "trimetric.graphs.paths.trees",
    "trimetric.graphs.verdict": "trimetric.graphs.learning.verdict",
    "trimetric.heads": "trimetric.models.heads",
    "trimetric.interruption": "trimetric._support.interruption",
    "trimetric.losses": "trimetric.training.losses",
    "trimetric.memory": "trimetric._support.memory",
    "trimetric.metric_callable": "trimetric.integrations.sklearn.metric_callable",
    "trimetric.model": "trimetric.models.model",
    "trimetric.model_file": "trimetric.models.files",
    "trimetric.pair_data": "trimetric.training.pairs",
    "trimetric.pair_estimator": "trimetric.integrations.sklearn.pair_estimator",
    "trimetric.pair_splits": "trimetric._support.pair_splits",
    "trimetric.pooled": "trimetric.norms.pooled",
    "trimetric.printable": "trimetric._support.printable",
    "trimetric.processes": "trimetric.training.processes",
    "trimetric.progress": "trimetric._support.progress",
    "trimetric.run_identity": "trimetric.training.identity",
    "trimetric.schedules": "trimetric.training.schedules",
    "trimetric.siamese": "trimetric.distances.siamese",
    "trimetric.stacked_trainee": "trimetric.training.stacked",
    "trimetric.tables": "trimetric.files",
    "trimetric.tables.arrays": "trimetric.files.arrays",
    "trimetric.tables.columns": "trimetric.files.columns",
    "trimetric.tables.errors": "trimetric.files.errors",
    "trimetric.tables.features": "trimetric.files.features",
    "trimetric.tables.graph": "trimetric.graphs.paths.all_distances",
    "trimetric.tables.matrix": "trimetric.files.matrix_pairs",
    "trimetric.tables.pairs": "trimetric.files.pairs",
    "trimetric.tables.square": "trimetric.files.matrices",
    "trimetric.tables.text": "trimetric.files.text",
    "trimetric.tables.tsplib": "trimetric.files.tsplib",
    "trimetric.tables.writing": "trimetric.files.writing",
    "trimetric.trainees": "trimetric.training.trainee",
    "trimetric.training_arguments": "trimetric.training.arguments",
    "trimetric.training_config": "trimetric.training",
    "trimetric.training_run": "trimetric.training.run",
    "trimetric.values": "trimetric.rl",
    "trimetric.values.collecting": "trimetric.rl.transitions.collecting",
    "trimetric.values.encoder": "trimetric.rl.learning.encoder",
    "trimetric.values.environment": "trimetric.rl.worlds.environment",
    "trimetric.values.known_moves": "trimetric.rl",
    "trimetric.values.learning": "trimetric.rl.learning",
    "trimetric.values.maps": "trimetric.rl.worlds.maps",
    "trimetric.values.move_errors": "trimetric.rl.learning.move_errors",
    "trimetric.values.pictures": "trimetric.rl.planning.pictures",
    "trimetric.values.planning": "trimetric.rl.planning",
    "trimetric.values.row_sums": "trimetric.rl.learning.row_sums",
    "trimetric.values.splits": "trimetric.rl.learning.splits",
    "trimetric.values.state_embedding": "trimetric.rl.learning.state_embedding",
    "trimetric.values.transition_learning": "trimetric.rl.learning.from_transitions",
    "trimetric.values.transitions": "trimetric.rl.transitions",
    "trimetric.values.windows": "trimetric.rl.learning.windows",
    "trimetric.values.worlds": "trimetric.rl.worlds",
}


class _Alias(Loader):
    """Gives the module of the new name as the module of the old one."""

    def __init__(self, new: str) -> None:
        self.new = new
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        warn(spec.name, self.new, stacklevel=2)
        module = import_module(self.new)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has put the old name there


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        new = _new_name(fullname)
        return None if new is None else ModuleSpec(fullname, _Alias(new))


def install() -> None:
    """Let imports of old names find the new modules.

    The finder is asked first, since the usual one would load a second copy of a module in a renamed package.
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def attribute(name: str) -> ModuleType:
    """The module that was `trimetric.<name>`."""
    old = f"trimetric.{name}"
    if old in MOVED:
        warn(old, MOVED[old], stacklevel=3)
        return import_module(MOVED[old])
    raise AttributeError(f"module 'trimetric' has no attribute {name!r}")


def renamed(module: str, names: Mapping[str, str], *, stacklevel: int = 2) -> Callable[[str], Any]:
    """Make the `__getattr__` of a module some of whose classes or functions have new names.

    Args:
        module: the module's `__name__`.
        names: where each old name is now, such as `{"PlanScore": "trimetric.rl.Score"}`.
        stacklevel: 2 where the answer is the module's `__getattr__`, 3 where that calls it.

    Returns:
        A function that finds an old name, with a `DeprecationWarning` that names the new place.

    Examples:
        >>> find = renamed("trimetric.rl", {"PlanScore": "trimetric.rl.Score"})
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     found = find("PlanScore")
        >>> found.__name__, str(caught[0].message).partition(";")[0]
        ('Score', 'trimetric.rl.PlanScore is now trimetric.rl.Score')
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn(f"{module}.{name}", names[name], stacklevel=stacklevel)
        home, _, new = names[name].rpartition(".")
        return getattr(import_module(home), new)

    return find


def warn(old: str, new: str, *, stacklevel: int = 2) -> None:
    """Warn that something has a new name.

    Args:
        old: its old name.
        new: its new name.
        stacklevel: 1 for the caller, 2 for the caller's caller, and so on.
    """
    message = f"{old} is now {new}; the old name works for one release"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel + 1)


def _new_name(old: str) -> str | None:
    if old in MOVED:
        return MOVED[old]
    parent, _, name = old.rpartition(".")
    return f"{MOVED[parent]}.{name}" if parent in MOVED else None
