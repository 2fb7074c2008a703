"""A figure: a matplotlib plot with a text alternative."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported where it is used: `python -m reproduction list` draws nothing
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Plot
    from matplotlib.figure import FigureBase


@dataclass(frozen=True)
class Figure:
    """A plot drawn from rows alone, on a `matplotlib.figure.Figure` (not with pyplot, whose figures must be closed)."""

    label: str
    """label of the paper's figure, or a new one if the paper has none"""
    title: str
    alt: str
    """text alternative: what it shows, in a sentence or two"""
    plot: Plot
    stem: str
    """name of the file, without its suffix"""

    def save(self, folder: Path) -> Path:
        """Save it as PNG in a folder; returns the path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.stem}.png"
        self.plot.savefig(path, dpi=160, bbox_inches="tight")
        return path

    @property
    def broad(self) -> bool:
        """Whether it is much wider than tall."""
        width, height = self.plot.get_size_inches()
        return bool(width > 2.5 * height)

    def data_uri(self) -> str:
        """Encode it as SVG in a URI, so that a page needs no request for it; the same bytes for the same rows."""
        import matplotlib as mpl

        buffer = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": "trimetric"}):
            self.plot.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
        return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()


def add_legend(plot: FigureBase, axes: Iterable[Axes], order: Iterable[str]) -> None:
    """Add one legend next to the panels, with every label that occurs in any of them.

    Args:
        plot: the figure or sub-figure that gets the legend.
        axes: its panels.
        order: all labels, in the order of the legend.
    """
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    labels = [label for label in order if label in handles]
    if labels:
        plot.legend([handles[label] for label in labels], labels, fontsize=8, loc="outside right upper")
