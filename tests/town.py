"""A small map with one-way streets, and a model of it."""

from __future__ import annotations

SIDE = 14
STEP = 0.001


def town_map() -> str:
    """Streets of a grid, every other one one-way, with a ring around."""
    nodes = [
        f'<node id="{1000 + r * SIDE + c}" lat="{41 + STEP * r:.4f}" lon="{-8 + STEP * c:.4f}"/>'
        for r in range(SIDE)
        for c in range(SIDE)
    ]
    ways = []
    for line in range(SIDE):
        for along in (True, False):
            refs = [line * SIDE + i if along else i * SIDE + line for i in range(SIDE)]
            tags = '<tag k="highway" v="residential"/>'
            if 0 < line < SIDE - 1:
                tags += f'<tag k="oneway" v="{"yes" if line % 2 else "-1"}"/>'
            points = "".join(f'<nd ref="{1000 + ref}"/>' for ref in refs)
            ways.append(f'<way id="{2 * line + along + 1}">{points}{tags}</way>')
    return f'<osm version="0.6">{"".join(nodes)}{"".join(ways)}</osm>'
