"""Matplotlib figures as SVG inside a page: its fonts, its colors in light and dark, and no request."""

from __future__ import annotations

import io
import re
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

COLORS = {
    "var(--ink)": "#010203",
    "var(--soft)": "#010204",
    "var(--line)": "#010205",
    "var(--back)": "#010206",
    "var(--blue)": "#010207",
    "var(--green)": "#010208",
    "var(--red)": "#010209",
    "var(--purple)": "#01020a",
    "var(--orange)": "#01020b",
}
"""the variables of the page's style sheet, each with the stand-in that Matplotlib draws with"""
INK, SOFT, LINE, BACK, BLUE, GREEN, RED, PURPLE, ORANGE = COLORS.values()

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "svg.fonttype": "none",  # text stays text, which the page's fonts show and a search finds
    "svg.hashsalt": "trimetric",
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "legend.frameon": False,
}


def inline_svg(figure: Figure, *, name: str, alt: str) -> str:
    """Turn a figure into an SVG element that follows the colors and fonts of the page around it.

    Args:
        figure: drawn with the stand-ins of `COLORS`, within `matplotlib.rc_context(STYLE)`.
        name: of the picture, different for each of a page: its ids start with it.
        alt: the text alternative, without quotes or markup.

    Returns:
        The element, without an XML header or namespaces.
    """
    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', rf'<svg role="img" aria-label="{alt}" viewBox="\1">', svg, count=1
    )
    svg = svg.replace("xlink:href", "href")
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 system-ui, sans-serif", svg)
    for variable, stand_in in COLORS.items():
        svg = svg.replace(stand_in, variable)
    return svg
