"""What each operation does to bounds and errors.

Sums may be taken in any order, with fused or separate products: the bounds are those of the worst order.  $n$ roundings
that follow each other leave a relative error of at most $\\gamma_n = nu / (1 - nu)$.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from trimetric.search.enclosures import Enclosure, Format, Known, Places, Truths, Unproven, spread

Rule = Callable[..., Any]
# Elementary functions of torch are right to a few units; this is twice what their libraries state.
UNITS_OF_FUNCTIONS = 8
# A fast path takes ||a||^2 + ||b||^2 - 2 ab, and computes pairs again for which that is at most 1/32 of the first two.
# An error of 2 gamma (||a||^2 + ||b||^2) in the square is one of 2 sqrt(32) gamma sqrt(||a||^2 + ||b||^2), so at most
# 16 gamma times the length of the box, in the distance; gamma counts twice as many roundings as below.
GRAM = 32.0


def gamma(count: int, unit: float) -> float:
    """The relative error of `count` roundings that follow each other."""
    if count * unit >= 0.5:
        raise Unproven(f"{count} roundings")
    return count * unit / (1 - count * unit)


def add(a: Enclosure, b: Enclosure, form: Format, *, alpha: float = 1.0) -> Enclosure:
    if alpha != 1:
        b = multiply(b, Enclosure.exactly(torch.tensor(float(alpha))), form)
    low, high = a.low + b.low, a.high + b.high
    # A faster path may add the parts of both in another order, so their sizes count, not that of the sum.
    error = a.error + b.error
    return Enclosure(low, high, spread(error + form.unit * (a.reach + b.reach)))


def subtract(a: Enclosure, b: Enclosure, form: Format, *, alpha: float = 1.0) -> Enclosure:
    if alpha == 1 and a.given and b.given:
        low, high = a.low - b.high, a.high - b.low
        error = form.unit * torch.maximum(low.abs(), high.abs())
        return Enclosure(low, high, spread(a.error + b.error + error), given=True)
    return add(a, negate(b), form, alpha=alpha)


def negate(a: Enclosure) -> Enclosure:
    return Enclosure(-a.high, -a.low, a.error, a.given)


def multiply(a: Enclosure, b: Enclosure, form: Format) -> Enclosure:
    corners = torch.stack(torch.broadcast_tensors(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high))
    error = a.error * b.size + b.error * a.size + a.error * b.error
    return Enclosure(
        corners.amin(0), corners.amax(0), spread(error + form.unit * (corners.abs().amax(0) + error) + form.tiny)
    )


def divide(a: Enclosure, b: Enclosure, form: Format) -> Enclosure:
    least = b.low - b.error
    if not bool((least > 0).all()):
        raise Unproven("a division by what may be 0")
    corners = torch.stack(torch.broadcast_tensors(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high))
    size = corners.abs().amax(0)
    error = (a.error + size * b.error) / least
    return Enclosure(corners.amin(0), corners.amax(0), spread(error + form.unit * (size + error) + form.tiny))


def product(a: Enclosure, b: Enclosure, form: Format) -> Enclosure:
    """A matrix product."""
    inner = a.low.shape[-1]
    # Where one of the two is known exactly, its signs are, too.
    if bool((b.low == b.high).all()):
        up, down = b.low.clamp(min=0), b.low.clamp(max=0)
        low, high = a.low @ up + a.high @ down, a.high @ up + a.low @ down
    else:
        high = a.size @ b.size
        low = -high
    error = a.error @ b.size + a.size @ b.error + a.error @ b.error
    return Enclosure(
        low,
        high,
        spread(error + gamma(inner + 1, form.unit) * (a.reach @ b.reach) + inner * form.tiny),
    )


def total(a: Enclosure, axes: Any, keep: bool, form: Format, *, mean: bool) -> Enclosure:
    axes = list(range(a.low.ndim)) if axes in (None, []) else axes
    count = math.prod(a.low.shape[axis] for axis in ([axes] if isinstance(axes, int) else axes))
    by = max(1, count) if mean else 1
    low, high, error, reach = (part.sum(axes, keep) / by for part in (a.low, a.high, a.error, a.reach))
    return Enclosure(low, high, spread(error + gamma(count + 1, form.unit) * reach + form.tiny))


def euclidean(a: Enclosure, order: float, axes: Any, keep: bool, form: Format) -> Enclosure:
    if order != 2:
        raise Unproven(f"a norm of order {order}")
    axes = [*range(a.low.ndim)] if axes in (None, []) else axes
    count = math.prod(a.low.shape[axis] for axis in ([axes] if isinstance(axes, int) else axes))

    def norm(part: Tensor) -> Tensor:
        return torch.linalg.vector_norm(part, dim=axes, keepdim=keep)

    error, reach = norm(a.error), norm(a.reach)
    if float(reach.max()) >= math.sqrt(form.largest):
        raise Unproven("squares that may overflow")
    least = torch.where((a.low <= 0) & (a.high >= 0), 0.0, torch.minimum(a.low.abs(), a.high.abs()))
    signed = bool((a.low < 0).any())
    roundings = gamma(count // 2 + 3, form.unit) * (GRAM if signed else 1.0)
    # Squares of small numbers vanish: what is lost is below the root of as many tiny numbers.
    lost = math.sqrt(count * form.tiny) * (GRAM if signed else 1.0)
    return Enclosure(norm(least), norm(a.size), spread(error + roundings * reach + lost))


def increasing(function: Callable[[Tensor], Tensor], steepest: Callable[[Tensor, Tensor], Tensor]) -> Rule:
    """An elementary function that grows; `steepest` is its largest slope between two numbers."""

    def rule(a: Enclosure, form: Format) -> Enclosure:
        low, high = function(a.low), function(a.high)
        size = torch.maximum(low.abs(), high.abs())
        error = a.error * steepest(a.low - a.error, a.high + a.error)
        return Enclosure(low, high, spread(error + UNITS_OF_FUNCTIONS * form.unit * (size + error) + form.tiny))

    return rule


def root(a: Enclosure, form: Format) -> Enclosure:
    if bool((a.low < 0).any()):
        raise Unproven("the root of what may be negative")
    low, high = a.low.sqrt(), a.high.sqrt()
    error = torch.where(a.error > 0, torch.minimum(a.error.sqrt(), a.error / low.clamp(min=1e-300)), 0.0)
    return Enclosure(low, high, spread(error + form.unit * (high + error) + math.sqrt(form.tiny)))


def steady(function: Callable[[Tensor], Tensor]) -> Rule:
    """A function that grows, by at most as much as its argument, and does not round."""

    def rule(a: Enclosure, *options: Any) -> Enclosure:
        return Enclosure(function(a.low, *options), function(a.high, *options), a.error)

    return rule


def absolute(a: Enclosure) -> Enclosure:
    low = torch.where((a.low <= 0) & (a.high >= 0), 0.0, torch.minimum(a.low.abs(), a.high.abs()))
    return Enclosure(low, a.size, a.error)


def leaky(a: Enclosure, slope: float, form: Format) -> Enclosure:
    if not 0 <= slope <= 1:
        raise Unproven(f"a leaky relu of slope {slope}")
    low, high = (torch.nn.functional.leaky_relu(part, slope) for part in (a.low, a.high))
    return Enclosure(low, high, spread(a.error + form.unit * a.reach + form.tiny))


def extreme(function: Callable[..., Tensor]) -> Rule:
    """The largest or least along axes: it changes by at most the largest change of one of them."""

    def rule(a: Enclosure, axes: Any = (), keep: bool = False) -> Enclosure:
        axes = [*range(a.low.ndim)] if axes in (None, (), []) else axes
        return Enclosure(function(a.low, axes, keep), function(a.high, axes, keep), a.error.amax(axes, keep))

    return rule


def of_two(function: Callable[[Tensor, Tensor], Tensor]) -> Rule:
    """The larger or the smaller of two."""

    def rule(a: Enclosure, b: Enclosure) -> Enclosure:
        return Enclosure(function(a.low, b.low), function(a.high, b.high), torch.maximum(a.error, b.error))

    return rule


def running_largest(a: Enclosure, axis: int) -> list[Known | None]:
    low, high, error = (torch.cummax(part, axis).values for part in (a.low, a.high, a.error))
    return [Enclosure(low, high, error), Places(axis)]


def along(function: Callable[..., Any]) -> Rule:
    """The largest or least along an axis, and where it is, which nothing may depend on."""

    def rule(a: Enclosure, axis: int, keep: bool = False) -> list[Known | None]:
        values = Enclosure(function(a.low, axis, keep)[0], function(a.high, axis, keep)[0], a.error.amax(axis, keep))
        return [values, None]

    return rule


def sort(a: Enclosure, axis: int = -1, descending: bool = False) -> list[Known | None]:
    if bool((a.error > 0).any()):
        raise Unproven("an order of numbers that are rounded")
    low, high = (part.sort(dim=axis, descending=descending).values for part in (a.low, a.high))
    return [Enclosure(low, high, torch.zeros_like(low)), Places(axis)]


def gather(a: Enclosure, axis: int, places: Places) -> Enclosure:
    """Some number along the axis, the same one in real and in computed numbers."""
    if not isinstance(places, Places):
        raise Unproven("a choice of numbers")
    low, high, error = a.low.amin(axis, keepdim=True), a.high.amax(axis, keepdim=True), a.error.amax(axis, keepdim=True)
    return Enclosure(low.expand_as(a.low), high.expand_as(a.low), error.expand_as(a.low))


def choose(condition: Truths, a: Enclosure, b: Enclosure) -> Enclosure:
    if condition.values is not None:
        low, high, error = (
            torch.where(condition.values, x, y) for x, y in ((a.low, b.low), (a.high, b.high), (a.error, b.error))
        )
        return Enclosure(low, high, error)
    low, high, error = torch.minimum(a.low, b.low), torch.maximum(a.high, b.high), torch.maximum(a.error, b.error)
    if not condition.certain:
        error = error + (high - low)
    low, high, error, _ = torch.broadcast_tensors(low, high, error, condition.like)
    return Enclosure(low, high, error)


def fill(a: Enclosure, mask: Any, value: float) -> Enclosure:
    """Replace numbers where a mask that does not depend on the inputs says so."""
    if not isinstance(mask, Enclosure) or not bool((mask.low == mask.high).all()):
        raise Unproven("a mask that depends on the points")
    return choose(Truths(mask.low, certain=True, values=mask.low.bool()), Enclosure.exactly(torch.tensor(value)), a)


def compare(a: Enclosure, b: Enclosure) -> Truths:
    exact = not bool((a.error > 0).any()) and not bool((b.error > 0).any())
    return Truths(torch.broadcast_tensors(a.low, b.low)[0], certain=exact)


def clamp(a: Enclosure, least: float | None = None, most: float | None = None) -> Enclosure:
    return Enclosure(a.low.clamp(least, most), a.high.clamp(least, most), a.error)


def blend(a: Enclosure, b: Enclosure, weight: Enclosure, form: Format) -> Enclosure:
    """`a + weight (b - a)` for a weight from 0 to 1, by whichever formula."""
    if not bool(((weight.low >= 0) & (weight.high <= 1)).all()):
        raise Unproven("a weight that is not from 0 to 1")
    difference = add(b, negate(a), form)
    rounded = add(a, multiply(weight, difference, form), form)
    return Enclosure(torch.minimum(a.low, b.low), torch.maximum(a.high, b.high), rounded.error)
