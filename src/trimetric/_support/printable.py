"""Text from files as it may be shown to people: nothing in it moves the cursor, colors or reorders a terminal."""

from __future__ import annotations

import re

SHOWN = 80

# C0, DEL, C1 (among them the escape that starts ANSI sequences), line and paragraph separators, the marks, embeddings,
# overrides and isolates that reorder text, invisible characters, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def printable(text: str, *, keep: str = "", limit: int | None = None) -> str:
    r"""Text with its control characters escaped as Python writes them.

    Args:
        text: what may come from a file.
        keep: control characters that stay, such as the ends of lines of a text of several.
        limit: longest result; a longer one ends in "...".

    Returns:
        Text that any terminal shows as it is.

    Examples:
        >>> printable("a\x1b[31mb\n")
        'a\\x1b[31mb\\n'
        >>> printable("one\ntwo", keep="\n")
        'one\ntwo'
        >>> printable("x" * 100, limit=10)
        'xxxxxxx...'
    """
    if limit is not None:
        text = text[: limit + 1]  # junk may be long
    shown = _UNSAFE.sub(lambda match: match[0] if match[0] in keep else _escaped(match[0]), text)
    return shown if limit is None or len(shown) <= limit else shown[: limit - 3] + "..."


def shown(value: object, *, limit: int = SHOWN) -> str:
    """A bad value for an error message, as `repr` gives it, but never longer than `limit`.

    Examples:
        >>> shown("abc")
        "'abc'"
        >>> shown(["x" * 1000], limit=12)
        "['xxxxxxx..."
    """
    if isinstance(value, (str, bytes)):
        value = value[: limit + 1]  # before repr makes it four times as long
    return printable(repr(value), limit=limit)


def _escaped(character: str) -> str:
    code = ord(character)
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return named.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
