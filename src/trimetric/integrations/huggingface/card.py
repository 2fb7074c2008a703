"""The card of a model: what its notes say, in Markdown with the metadata that the Hub reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from trimetric._audit import Audit
from trimetric._support import checks
from trimetric.models.model import Model


def model_card(model: Model, *, license: str | None = None, data: str | None = None, audit: Audit | None = None) -> str:
    """Write the card of a model from its notes: what it promises, its data, errors by distance, audit and license.

    The card says so if something is not known.

    Args:
        model: the model.
        license: of the weights, such as "mit".
        data: what the model was trained on, in Markdown.
        audit: what `trimetric.audit` measured.

    Returns:
        Markdown, with the metadata that the Hub reads.

    Examples:
        >>> import trimetric as tm
        >>> card = model_card(tm.Model(tm.NormInduced(tm.Euclidean(2))), license="mit")
        >>> "keeps the triangle inequality for every value of its weights" in card
        True
    """
    checks.instance("model", model, Model)
    for name, value in (("license", license), ("data", data)):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise ValueError(f"{name}: expected text or None, got {value!r}")
    if license is not None and any(sign in license for sign in "\n:#"):
        raise ValueError(f"license: expected an identifier such as 'mit', got {license!r}")
    notes = model.notes
    tags = ["metric-learning", "quasimetric", "triangle-inequality"]
    sections = [
        "\n".join(
            [
                "---",
                "library_name: trimetric",
                *([] if license is None else [f"license: {license}"]),
                "tags:",
                *(f"- {tag}" for tag in tags),
                "---",
            ]
        ),
        "# A learned distance",
        _promise(model),
        _section("Use", _USE),
        _section("Data", "\n\n".join(_data(model, data))),
        _section("Errors", "\n\n".join(_errors(notes))),
        _section("Audit", str(audit) if audit is not None else "Not given.", code=audit is not None),
        _section("License", license or "None is given."),
    ]
    if isinstance(notes.get("settings"), dict):
        sections.append(_section("Settings", json.dumps(notes["settings"], indent=2, default=str), code=True))
    return "\n\n".join(sections) + "\n"


_USE = """```python
from trimetric.integrations.huggingface import from_pretrained

model = from_pretrained("path/or/name")
```"""


def _section(title: str, text: str, *, code: bool = False) -> str:
    return f"## {title}\n\n" + (f"```\n{text}\n```" if code else text)


def _promise(model: Model) -> str:
    weights = sum(parameter.numel() for parameter in model.network.parameters())
    first = (
        "It keeps the triangle inequality for every value of its weights."
        if model.axioms.triangle
        else "**It does not promise the triangle inequality.**"
    )
    return f"{first} What it promises: {model.axioms}. It has {weights:,} weights."


def _data(model: Model, data: str | None) -> Iterator[str]:
    notes = model.notes
    yield data.strip() if data else "The data are not described."
    facts: Sequence[tuple[str, object]] = [
        ("objects known by name", None if model.ids is None else len(model.ids)),
        ("pairs to train on", notes.get("training_pairs")),
        ("held-out pairs", notes.get("held_out_pairs")),
        ("unit", notes.get("unit")),
        ("made by", notes.get("made_by")),
    ]
    lines = [
        f"- {name}: {value:,}" if isinstance(value, int) else f"- {name}: {value}" for name, value in facts if value
    ]
    if lines:
        yield "\n".join(lines)


def _errors(notes: dict[str, Any]) -> Iterator[str]:
    errors = notes.get("errors")
    if not isinstance(errors, dict) or "mse" not in errors:
        yield "Not measured."
        return
    yield (
        f"On {errors.get('pairs', 0):,} {errors.get('on', 'pairs')}: mean squared error {_number(errors['mse'])} "
        f"(of predicting the mean: {_number(errors.get('mse_of_mean'))}), "
        f"mean relative error {_number(errors.get('mean_relative_error'), share=True)}."
    )
    if buckets := errors.get("by_distance"):
        rows = [
            f"| {_number(bucket['from'])} to {_number(bucket['to'])} | {bucket['pairs']:,} | "
            f"{_number(bucket['mean_error'])} | {_number(bucket['mean_relative_error'], share=True)} |"
            for bucket in buckets
        ]
        yield "\n".join(["| distance | pairs | mean error | relative |", "|---|---|---|---|", *rows])


def _number(value: object, *, share: bool = False) -> str:
    if not isinstance(value, (int, float)) or value != value:
        return "unknown"
    return f"{value:.1%}" if share else f"{value:.4g}"
