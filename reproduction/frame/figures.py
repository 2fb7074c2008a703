"""A figure: a matplotlib plot with a text alternative."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # imported where it is used: `python -m reproduction list` draws nothing
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Plot
    from matplotlib.figure import FigureBase


DPI = 120
"""pixels per inch of the images in a page"""
SHADES = 64
"""colors of such an image: a plot has few, and their shades at the edges of lines"""
POINTS = 72
"""pixels of CSS per inch"""


@dataclass(frozen=True)
class Image:
    """A picture inside a page."""

    uri: str
    width: int
    """in pixels of CSS, so that the page has its layout before the image is decoded"""
    height: int


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

    def image(self) -> Image:
        """Encode it as a WebP image in a URI, so that a page needs no request for it; the same bytes for the same rows.

        An SVG would be five times larger, because its size grows with every point of a curve and every cell of a map.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from PIL import Image as Pillow

        self.plot.set_dpi(DPI)
        canvas = FigureCanvasAgg(self.plot)
        canvas.draw()  # once; savefig would draw a second time
        drawn = Pillow.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        few = drawn.quantize(SHADES, method=Pillow.Quantize.FASTOCTREE, dither=Pillow.Dither.NONE)
        buffer = io.BytesIO()
        few.convert("RGB").save(buffer, format="WEBP", lossless=True, quality=60, method=4)
        width, height = (round(inches * POINTS) for inches in self.plot.get_size_inches())
        return Image("data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode(), width, height)


def has_line(curves: Iterable[Sized]) -> bool:
    """Whether one of several curves has two points or more; a panel without one says nothing and is left out."""
    return any(len(points) > 1 for points in curves)


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
