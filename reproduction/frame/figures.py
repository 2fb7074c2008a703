"""A figure: a matplotlib plot with the words that a reader needs who cannot see it."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported where it is used: `python -m reproduction list` draws nothing
    from matplotlib.figure import Figure as Plot


@dataclass(frozen=True)
class Figure:
    """Drawn from rows alone, on a `matplotlib.figure.Figure` (not on pyplot, which needs to be closed)."""

    label: str
    """of the paper's figure, or a new one where the paper has none"""
    title: str
    alt: str
    """what is to be seen, in a sentence or two"""
    plot: Plot
    stem: str
    """name of the file, without its ending"""

    def save(self, folder: Path) -> Path:
        """As PNG into a folder; gives the path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.stem}.png"
        self.plot.savefig(path, dpi=160, bbox_inches="tight")
        return path

    @property
    def broad(self) -> bool:
        """Whether it is much wider than high."""
        width, height = self.plot.get_size_inches()
        return bool(width > 2.5 * height)

    def data_uri(self) -> str:
        """As SVG inside a URI, so that a page holds it without a request; the same bytes for the same rows."""
        import matplotlib as mpl

        buffer = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": "trimetric"}):
            self.plot.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
        return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()
