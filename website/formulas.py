"""Formulas of the pages as MathML."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

# What pymdownx.arithmatex (generic) makes of $...$ and $$...$$.
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def with_mathml(page: str) -> str:
    r"""Replace the formulas of an HTML page by MathML.

    Args:
        page: HTML with formulas as arithmatex marks them.

    Returns:
        The page, with a `math` element for each formula.

    Examples:
        >>> page = with_mathml(r'<span class="arithmatex">\(x^2\)</span>')
        >>> page.startswith("<math") and page.endswith("</math>")
        True
    """
    page = INLINE.sub(lambda found: convert(html.unescape(found[1])), page)
    return DISPLAY.sub(lambda found: convert(html.unescape(found[1]), display="block"), page)
