"""How a head is drawn: one color, marker and line style for each, the same in all figures.

The colors are those of Okabe and Ito, which readers with any kind of color vision can tell apart, without their yellow
(too pale on white) and with a gray.  A family of heads shares a color; its members differ in marker and line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

BLACK, GRAY, BLUE, ORANGE, GREEN = "#000000", "#7f7f7f", "#0072b2", "#e69f00", "#009e73"
SKY, PURPLE, VERMILLION = "#56b4e9", "#cc79a7", "#d55e00"
COLORS = (BLACK, GRAY, BLUE, ORANGE, GREEN, SKY, PURPLE, VERMILLION)

Dash = str | tuple[int, tuple[float, ...]]
SOLID, DASHED, DASH_DOT, DOTTED = "-", "--", "-.", ":"
LONG: Dash = (0, (9, 2))
SHORT: Dash = (0, (2, 1))
DASH_DOTS: Dash = (0, (5, 1, 1, 1, 1, 1))
LONG_DOT: Dash = (0, (9, 2, 1, 2))
DASH_GAP: Dash = (0, (4, 3))
MARKERS = "osD^vP*Xh<>p8"


@dataclass(frozen=True)
class Style:
    """The look of one head."""

    color: str
    marker: str
    dash: Dash = SOLID

    def options(self) -> dict[str, Any]:
        """The arguments of `Axes.plot` and `Axes.errorbar`."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.dash,
            "markersize": 4,
            "linewidth": 1.3,
        }


STYLES = {
    "Euclidean": Style(GRAY, "o"),
    "Mahalanobis": Style(GRAY, "s", DASHED),
    "MLP": Style(BLACK, "s", DASHED),
    "MLP calibrated": Style(BLACK, "D", DASH_DOT),
    "MLP difference": Style(BLACK, "^", DOTTED),
    "wide MLP": Style(BLACK, "v", LONG),
    "ICNN": Style(PURPLE, "s", DASHED),
    "DN": Style(BLUE, "o"),
    "DN_I": Style(BLUE, "v", DASHED),
    "DN_N": Style(BLUE, "D", DASH_DOT),
    "Toll DN": Style(BLUE, "s", DOTTED),
    "Toll DN_N": Style(BLUE, "^", LONG),
    "WN": Style(ORANGE, "o"),
    "WN paper": Style(ORANGE, "v", DASHED),
    "WN rectified": Style(ORANGE, "D", DASH_DOT),
    "NM WN": Style(ORANGE, "P", LONG),
    "Toll WN": Style(ORANGE, "s", DOTTED),
    "IQE": Style(GREEN, "o"),
    "IQE mean": Style(GREEN, "v", DASHED),
    "NM IQE": Style(GREEN, "D", DASH_DOT),
    "Toll IQE": Style(GREEN, "s", DOTTED),
    "wide Toll IQE": Style(GREEN, "^", LONG),
    "Toll NM IQE": Style(GREEN, "P", SHORT),
    "PQE LH": Style(PURPLE, "o"),
    "PQE GG": Style(PURPLE, "v", DOTTED),
    "Band": Style(PURPLE, "D", DASH_DOT),
    "MRN": Style(SKY, "o"),
    "MRN grouped": Style(SKY, "v", DASHED),
    "Randers": Style(SKY, "^", DASH_DOT),
    "Landmark": Style(SKY, "s", DOTTED),
    "recommended": Style(VERMILLION, "*"),
    "WN + IQE": Style(VERMILLION, "o", DASHED),
    "DN + IQE": Style(VERMILLION, "v", DASH_DOT),
    "IQE + small WN": Style(VERMILLION, "D", DOTTED),
    "Toll IQE + small WN": Style(VERMILLION, "s", LONG),
    "IQE + WN + MRN grouped": Style(VERMILLION, "P", SHORT),
    "Toll IQE + WN + MRN": Style(VERMILLION, "^", DASH_DOTS),
    "Toll IQE + WN 32x32": Style(VERMILLION, "X", LONG_DOT),
    "length + WN": Style(VERMILLION, "h", DASH_GAP),
}
SAME = {
    "Eucl.": "Euclidean",
    "Eucl": "Euclidean",
    "Maha": "Mahalanobis",
    "Deep Norm": "DN",
    "Wide Norm": "WN",
    "NM DN": "DN_N",
    "IQE + WN + MRN": "recommended",
    "landmarks": "Landmark",
}
"""other names of the same heads"""


def styles_of(heads: Iterable[str]) -> dict[str, Style]:
    """Choose the styles of the heads of a figure.

    Args:
        heads: their names, as in `STYLES` or `SAME`.  A new name gets a color and a marker that no head has.

    Returns:
        The styles by name.  No two of different heads have the same color and marker.

    Examples:
        >>> styles_of(["DN", "mine"])["DN"].color
        '#0072b2'
    """
    taken = {(style.color, style.marker) for style in STYLES.values()}
    free = (Style(color, marker, DASHED) for marker, color in product(MARKERS, COLORS) if (color, marker) not in taken)
    return {head: STYLES.get(SAME.get(head, head)) or next(free) for head in dict.fromkeys(heads)}
