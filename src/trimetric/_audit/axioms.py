"""What an object promises."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Literal

Measured = Literal["nonnegative", "reflexive", "definite", "triangle", "symmetric", "homogeneous"]
"""the axioms that `audit` measures"""


@dataclass(frozen=True, kw_only=True)
class Axioms:
    """The axioms that hold for *every* value of the parameters; the default is an asymmetric semi-norm.

    For a norm, read `d(x, y)` as `||y - x||`.  A property that holds for some parameters only is not promised: for
    example, a Mahalanobis norm is definite if its matrix happens to have full rank.

    Attributes:
        nonnegative: M1, `d(x, y) >= 0`.
        reflexive: the first half of M2, `d(x, x) = 0`.
        definite: M2 and N1, `d(x, y) = 0` only for `x = y`.
        triangle: M3 and N3, `d(x, z) <= d(x, y) + d(y, z)`.
        symmetric: M4 and N4, `d(x, y) = d(y, x)`.
        homogeneous: N2, `d(a x, a y) = a d(x, y)` for `a >= 0`.
        translation_invariant: `d(x + t, y + t) = d(x, y)`.
        monotone: N5, `0 <= x <= y` element-wise implies `||x|| <= ||y||`.

    Examples:
        >>> import trimetric as tm
        >>> print(tm.DeepNorm(4).axioms)
        nonnegative, reflexive, triangle, homogeneous, translation_invariant
        >>> Axioms().but(symmetric=True).symmetric
        True
    """

    nonnegative: bool = True
    reflexive: bool = True
    definite: bool = False
    triangle: bool = True
    symmetric: bool = False
    homogeneous: bool = True
    translation_invariant: bool = True
    monotone: bool = False

    def __post_init__(self) -> None:
        for axiom in fields(self):
            value = getattr(self, axiom.name)
            if not isinstance(value, bool):
                raise TypeError(f"{axiom.name}: expected True or False, got {value!r}")

    def but(self, **changes: bool) -> Axioms:
        """A copy with some promises changed.

        Args:
            changes: axioms by name, each True or False.
        """
        return replace(self, **changes)

    def __str__(self) -> str:
        return ", ".join(f.name for f in fields(self) if getattr(self, f.name)) or "nothing"


NOTHING = Axioms(nonnegative=False, reflexive=False, triangle=False, homogeneous=False, translation_invariant=False)


def combined_axioms(parts: Iterable[Axioms]) -> Axioms:
    """What a mean or maximum promises: what every part does, and definiteness where one part has it."""
    listed = list(parts)
    shared = {f.name: all(getattr(part, f.name) for part in listed) for f in fields(Axioms)}
    some_definite = any(part.definite for part in listed) and shared["nonnegative"] and shared["reflexive"]
    return Axioms(**{**shared, "definite": some_definite})
