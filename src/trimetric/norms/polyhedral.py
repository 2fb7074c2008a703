"""The norm whose unit ball is a given polytope."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import Tensor

from trimetric._audit.axioms import Axioms
from trimetric.kernels.fused import FusedPairs
from trimetric.kernels.pairs import LinearSplit, PairKernel
from trimetric.kernels.rows.linear import linear
from trimetric.kernels.scratch import Scratch
from trimetric.norms.activations import PoolName
from trimetric.norms.base import Norm


class PolyhedralNorm(Norm):
    r"""The gauge $\|x\| = \max_i \mathrm{relu}(a_i \cdot x / b_i)$ of $\{x : a_i \cdot x \le b_i\}$, $b_i > 0$.

    Each component is a rectified linear function, hence an asymmetric semi-norm (Proposition 6).  Nothing is
    learned: this norm is the ground truth of the 2-D experiments, and is useful if you know the unit ball.
    It is definite if the polytope is bounded, and symmetric if the polytope equals its mirror image.

    Create it from points with `PolyhedralNorm.from_points`, or from the half-spaces themselves.

    Args:
        normals: the $a_i$, one row per half-space.
        offsets: the $b_i > 0$.
        pool: how the components are pooled; "max" is the gauge itself.

    Examples:
        >>> square = PolyhedralNorm([[1, 0], [0, 1], [-1, 0], [0, -1]], [1, 1, 1, 1])
        >>> square(torch.tensor([3.0, -4.0]))
        tensor(4.)
    """

    def __init__(self, normals: ArrayLike, offsets: ArrayLike, *, pool: PoolName = "max") -> None:
        a, b = _matrix("normals", normals), _numbers("offsets", offsets)
        if b.shape != a.shape[:1]:
            raise ValueError(f"offsets: expected shape ({len(a)},), one for each normal, got {b.shape}")
        if not (np.isfinite(b).all() and (b > 0).all()):
            raise ValueError(
                "offsets: expected positive values, so that the polytope contains the origin inside, "
                f"got a smallest of {b.min():g}"
            )
        faces = a / b[:, None]
        super().__init__(a.shape[1], num_components=len(faces), pool=pool)
        self.register_buffer("faces", torch.as_tensor(faces, dtype=torch.get_default_dtype()))
        self.axioms = Axioms(definite=_is_bounded(faces), symmetric=_is_mirrored(faces))

    faces: Tensor

    @classmethod
    def from_points(cls, points: ArrayLike, *, pool: PoolName = "max") -> PolyhedralNorm:
        """Make the norm whose unit ball is the convex hull of points.

        Args:
            points: one row per point; the origin must lie inside their hull.
            pool: how the components are pooled; "max" is the gauge itself.

        Examples:
            >>> diamond = PolyhedralNorm.from_points([[1, 0], [0, 1], [-1, 0], [0, -1]])
            >>> round(diamond(torch.tensor([3.0, -4.0])).item(), 4)
            7.0
        """
        from scipy.spatial import ConvexHull, QhullError

        vertices = _matrix("points", points)
        if vertices.shape[1] == 1:
            faces = np.array([[1.0], [-1.0]]), np.array([vertices.max(), -vertices.min()])
        else:
            try:
                hull = ConvexHull(vertices)
            except (QhullError, ValueError) as error:
                raise ValueError(
                    f"points: expected a full-dimensional hull in {vertices.shape[1]} dimensions, "
                    f"got {len(vertices)} points that span less"
                ) from error
            faces = hull.equations[:, :-1], -hull.equations[:, -1]
        if faces[1].min() <= 1e-12 * np.abs(vertices).max():
            raise ValueError(
                "points: expected a convex hull that contains the origin inside, "
                f"got one whose nearest face lies at {faces[1].min():g}"
            )
        return cls(*faces, pool=pool)

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        return self._linear(x).relu()

    def linear_split(self) -> LinearSplit:
        return LinearSplit(self._linear, torch.relu, self.num_components)

    def pair_kernel(self) -> PairKernel:
        scratch = Scratch()
        return PairKernel(
            project=self._linear,
            # In place, which a derived kernel cannot know to be allowed; it would take 1.5 times as long.
            pairs=lambda px, py: scratch.differences("faces", px, py).relu_(),
            floats=2 * self.num_components,
            loses_digits=True,
            fused=FusedPairs(self._linear, "relu", self.num_components, loses_digits=True),
        )

    def _linear(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        return linear(x, self.faces)


def _numbers(name: str, value: ArrayLike) -> np.ndarray:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected an array of numbers, got {value!r}") from None


def _matrix(name: str, value: ArrayLike) -> np.ndarray:
    array = _numbers(name, value)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name}: expected a matrix with one row each, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite values, got NaN or infinity")
    return array


def _is_bounded(faces: np.ndarray) -> bool:
    """Bounded means that the normals span the space and positive multiples of them add up to 0."""
    from scipy.optimize import linprog

    if np.linalg.matrix_rank(faces) < faces.shape[1]:
        return False
    scaled = faces / np.abs(faces).max()
    return bool(linprog(np.zeros(len(scaled)), A_eq=scaled.T, b_eq=np.zeros(scaled.shape[1]), bounds=(1, None)).success)


def _is_mirrored(faces: np.ndarray) -> bool:
    tolerance = 1e-9 * np.abs(faces).max()
    gaps = np.abs(faces[:, None] + faces[None]).max(axis=-1)
    return bool((gaps.min(axis=1) <= tolerance).all())
