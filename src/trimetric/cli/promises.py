"""The warning about a model whose distances may break the triangle inequality."""

from __future__ import annotations

from trimetric._audit.axioms import NOTHING
from trimetric.models.model import Model


def caveat(model: Model) -> str | None:
    """Return a warning if a model does not promise the triangle inequality, else None.

    Args:
        model: any model.

    Returns:
        A sentence, without the numbers that only an audit can give.
    """
    if model.axioms.triangle:
        return None
    if model.axioms == NOTHING:
        return "this model promises nothing: its distances may break the triangle inequality"
    return f"this model does not promise the triangle inequality, only: {model.axioms}"
