"""The result of learning the distances of a graph."""

from __future__ import annotations

from dataclasses import dataclass

from trimetric._audit import Audit
from trimetric.graphs.learning.comparison import Candidate
from trimetric.graphs.learning.verdict import Verdict
from trimetric.graphs.paths.landmarks import Landmarks
from trimetric.graphs.paths.pair_sampling import PairSample
from trimetric.models.model import Model
from trimetric.training.config import History
from trimetric.training.pair_errors import PairErrors


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedGraph:
    """What `learn_graph` returns.

    Attributes:
        model: the distance with the points of all nodes, by their ids, and their coordinates if the graph has some;
            `model.notes` has the settings and the comparison.
        history: the epochs of the training; none where no network was trained.
        sample: the pairs of nodes; its test pairs were never trained on.
        landmarks: the nodes whose distances the encoder reads, or with which the model is compared.
        candidates: the model, the bounds of landmarks and the exact engine, compared on the test pairs.
        verdict: whether the model is worth using.
        audit: whether the model keeps its promises, measured on up to 300 nodes.
        errors: errors of the model on the test pairs, by distance.
        promise: guarantees in addition to the triangle inequality, in words; may be empty.

    Examples:
        >>> from trimetric.graphs import learn_graph, torus3d
        >>> learned = learn_graph(torus3d(seed=0, side=3), dim=4, epochs=1, progress="silent")
        >>> len(learned.model.ids), learned.model.axioms.symmetric, len(learned.landmarks.nodes)
        (27, True, 4)
    """

    model: Model
    history: History
    sample: PairSample
    landmarks: Landmarks
    candidates: list[Candidate]
    verdict: Verdict
    audit: Audit
    errors: PairErrors
    promise: str = ""
