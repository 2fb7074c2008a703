"""Proven bounds of rounding errors: a distance is computed once, and every operation adds to the bound of its error.

This is the forward error analysis of textbooks, done by the machine: it watches the operations of the definition on one
pair and applies to each the rule of `error_rules`, for all points of a box at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from trimetric.distances import Distance
from trimetric.search import error_rules as rules
from trimetric.search.enclosures import Enclosure, Format, Known, Truths, Unproven

aten = torch.ops.aten
# Fast paths take W (y - c) - W (x - c) instead of W (y - x), with a point c of the box: two products with vectors
# that are at most as long as the box, and three differences, instead of one of each.  So each rounding counts fourfold.
REARRANGED = 4
# Functions whose results are other views of the same numbers.
VIEWS = (
    aten.view.default,
    aten._unsafe_view.default,
    aten.reshape.default,
    aten.t.default,
    aten.transpose.int,
    aten.permute.default,
    aten.squeeze.dim,
    aten.squeeze.default,
    aten.unsqueeze.default,
    aten.expand.default,
    aten.slice.Tensor,
    aten.select.int,
    aten.detach.default,
    aten.alias.default,
    aten.clone.default,
    aten.constant_pad_nd.default,
)
SPLITS = (aten.split.Tensor, aten.split_with_sizes.default, aten.unbind.int)
STACKS = (aten.cat.default, aten.stack.default)
CONSTANTS = (
    aten.scalar_tensor.default,
    aten.eye.default,
    aten.new_zeros.default,
    aten.new_ones.default,
    aten.zeros_like.default,
    aten.ones_like.default,
    aten.full.default,
)
# Operations that do not round, and those that do.
EXACT: dict[Any, rules.Rule] = {
    aten.neg.default: rules.negate,
    aten.abs.default: rules.absolute,
    aten.relu.default: rules.steady(torch.relu),
    aten.clamp.default: rules.clamp,
    aten.clamp_min.default: rules.clamp,
    aten.amax.default: rules.extreme(torch.amax),
    aten.amin.default: rules.extreme(torch.amin),
    aten.max.dim: rules.along(torch.max),
    aten.min.dim: rules.along(torch.min),
    aten.maximum.default: rules.of_two(torch.maximum),
    aten.minimum.default: rules.of_two(torch.minimum),
    aten.cummax.default: rules.running_largest,
    aten.sort.default: rules.sort,
    aten.gather.default: rules.gather,
    aten.where.self: rules.choose,
    aten.ne.Tensor: rules.compare,
    aten.gt.Tensor: rules.compare,
}
ROUNDED: dict[Any, rules.Rule] = {
    aten.sqrt.default: rules.root,
    aten.sigmoid.default: rules.increasing(torch.sigmoid, lambda low, high: torch.full_like(low, 0.25)),  # noqa: ARG005
    aten.exp.default: rules.increasing(torch.exp, lambda low, high: high.exp()),  # noqa: ARG005
    aten.expm1.default: rules.increasing(torch.expm1, lambda low, high: high.exp()),  # noqa: ARG005
    aten.erf.default: rules.increasing(torch.erf, lambda low, high: torch.full_like(low, 1.13)),  # noqa: ARG005
    aten.tanh.default: rules.increasing(torch.tanh, lambda low, high: torch.ones_like(low)),  # noqa: ARG005
}


def distance_error(distance: Distance, low: Tensor, high: Tensor, dtype: torch.dtype) -> float:
    """Bound how far a computed distance between any two points of a box is from the real one.

    Args:
        distance: with the weights of the one that computes; in float64, so that the bound itself hardly rounds.
        low: the least coordinates of the box.
        high: the largest.
        dtype: the numbers in which the definition, or a fast path of it, computes.

    Returns:
        The bound.

    Raises:
        Unproven: if some operation has no rule, or nothing useful can be said.

    Examples:
        >>> import trimetric as tm
        >>> distance = tm.NormInduced(tm.Euclidean(2)).double()
        >>> error = distance_error(distance, torch.zeros(2), torch.ones(2), torch.float32)
        >>> 1e-7 < error < 1e-4
        True
    """
    if torch.get_float32_matmul_precision() != "highest":
        raise Unproven("matrix products in fewer digits")
    form = Format.of(dtype)
    form = Format(REARRANGED * form.unit, REARRANGED * form.tiny, form.largest)
    low, high = low.double(), high.double()
    x, y = (low + 0.25 * (high - low)).unsqueeze(0), (low + 0.75 * (high - low)).unsqueeze(0)
    watch = _Watch(form)
    box = Enclosure(low.unsqueeze(0), high.unsqueeze(0), torch.zeros_like(x), given=True)
    for tensor, known in ((x, box), (y, box)):
        watch.learn(tensor, known)
    for tensor in (*distance.parameters(), *distance.buffers()):
        if tensor.is_floating_point():
            watch.learn(tensor, Enclosure.exactly(tensor))
    try:
        with torch.no_grad(), watch:
            value = distance(x, y)
        found = watch.known(value)
    except (TypeError, AttributeError, IndexError, RuntimeError) as error:
        raise Unproven(f"a distance that cannot be followed: {error}") from error
    if not isinstance(found, Enclosure):
        raise Unproven("a distance that is no number")
    return float(found.error.max())


class _Watch(TorchDispatchMode):
    """Follows what is known of each tensor through the operations of torch."""

    def __init__(self, form: Format) -> None:
        super().__init__()
        self.form = form
        self._known: dict[int, Known] = {}
        self._kept: list[Tensor] = []  # so that no other tensor gets the same id

    def learn(self, tensor: Tensor, known: Known) -> None:
        """Remember what is known of a tensor."""
        if isinstance(known, Enclosure) and known.error.numel() and not float(known.reach.max()) < self.form.largest:
            raise Unproven("numbers that may overflow")
        self._kept.append(tensor)
        self._known[id(tensor)] = known

    def known(self, value: Any) -> Any:
        """What is known of an argument; plain numbers are exact."""
        if isinstance(value, Tensor):
            if id(value) not in self._known:
                raise Unproven("a tensor of unknown origin")
            return self._known[id(value)]
        if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
            return [self.known(each) for each in value]
        return value

    def watch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ARG002
        """Compute one operation, and what is known of its results."""
        options = kwargs or {}
        results = func(*args, **options)
        told = self._tell(func, args, options, results)
        if isinstance(results, Tensor):
            self.learn(results, told)
        else:
            for result, known in zip(results, told, strict=True):
                if known is not None:
                    self.learn(result, known)
        return results

    def _tell(self, func: Any, args: Any, options: dict[str, Any], results: Any) -> Any:
        if func in CONSTANTS:
            return Enclosure.exactly(results)
        first: Any = self.known(args[0]) if args else None
        if func in VIEWS:
            return _view(first, lambda part: func(part, *args[1:], **options))
        if func in SPLITS:
            return first.split(lambda part: func(part, *args[1:], **options))
        if func in STACKS:
            return _stack(func, first, args[1:], options)
        if func in (aten.any.dim, aten.isnan.default):
            return _truths(func, first, args[1:], results)
        if func is aten.masked_fill.Scalar:
            return rules.fill(first, self.known(args[1]), float(args[2]))
        given = [first, *(self.known(arg) for arg in args[1:])]
        if func in EXACT:
            return EXACT[func](*given, **options)
        if func in ROUNDED:
            return ROUNDED[func](*given, form=self.form, **options)
        return self._arithmetic(func, given, options)

    def _arithmetic(self, func: Any, given: list[Any], options: dict[str, Any]) -> Any:
        form, numbers = self.form, [_number(each) for each in given[:3]]
        if not isinstance(numbers[0], Enclosure):
            raise Unproven(f"the operation {func} of what are no numbers")
        alpha = float(options.get("alpha", 1))
        keep = bool(given[2]) if len(given) > 2 and isinstance(given[2], bool) else bool(options.get("keepdim", False))
        axes = given[1] if len(given) > 1 else options.get("dim")
        match func:
            case aten.add.Tensor | aten.add.Scalar:
                return rules.add(numbers[0], numbers[1], form, alpha=alpha)
            case aten.sub.Tensor | aten.sub.Scalar:
                return rules.subtract(numbers[0], numbers[1], form, alpha=alpha)
            case aten.rsub.Scalar:
                return rules.subtract(numbers[1], numbers[0], form, alpha=alpha)
            case aten.mul.Tensor | aten.mul.Scalar:
                return rules.multiply(numbers[0], numbers[1], form)
            case aten.div.Tensor | aten.div.Scalar:
                return rules.divide(numbers[0], numbers[1], form)
            case aten.mm.default | aten.bmm.default:
                return rules.product(numbers[0], numbers[1], form)
            case aten.addmm.default:
                return rules.add(numbers[0], rules.product(numbers[1], numbers[2], form), form)
            case aten.addcmul.default:
                factor = Enclosure.exactly(torch.tensor(float(options.get("value", 1))))
                added = rules.multiply(rules.multiply(numbers[1], numbers[2], form), factor, form)
                return rules.add(numbers[0], added, form)
            case aten.lerp.Tensor | aten.lerp.Scalar:
                return rules.blend(numbers[0], numbers[1], numbers[2], form)
            case aten.sum.dim_IntList | aten.sum.default:
                return rules.total(numbers[0], axes, keep, form, mean=False)
            case aten.mean.dim | aten.mean.default:
                return rules.total(numbers[0], axes, keep, form, mean=True)
            case aten.linalg_vector_norm.default:
                order = given[1] if len(given) > 1 else 2
                kept = bool(given[3]) if len(given) > 3 else bool(options.get("keepdim", False))
                return rules.euclidean(numbers[0], order, given[2] if len(given) > 2 else None, kept, form)
            case aten.leaky_relu.default:
                return rules.leaky(numbers[0], given[1] if len(given) > 1 else 0.01, form)
            case aten.pow.Tensor_Scalar if given[1] == 2:
                return rules.multiply(rules.absolute(numbers[0]), rules.absolute(numbers[0]), form)
            case aten.reciprocal.default:
                return rules.divide(Enclosure.exactly(torch.tensor(1.0)), numbers[0], form)
            case aten.softplus.default if len(given) == 1:
                soft = rules.increasing(torch.nn.functional.softplus, lambda low, high: torch.ones_like(low))  # noqa: ARG005
                return soft(numbers[0], form)
        raise Unproven(f"the operation {func}")


# Set here, because torch would wrap a method of that name in the class so that its first call imports a compiler.
_Watch.__torch_dispatch__ = _Watch.watch  # type: ignore[method-assign]


def _number(value: Any) -> Any:
    return Enclosure.exactly(torch.tensor(float(value))) if isinstance(value, (int, float)) else value


def _view(known: Any, view: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(known, Truths):
        return Truths(view(known.like), known.certain, None if known.values is None else view(known.values))
    if not isinstance(known, Enclosure):
        raise Unproven("a view of indices")
    return known.moved(view)


def _stack(func: Any, parts: list[Any], more: Any, options: dict[str, Any]) -> Enclosure:
    if not all(isinstance(part, Enclosure) for part in parts):
        raise Unproven("a stack of comparisons")
    columns = ([part.low for part in parts], [part.high for part in parts], [part.error for part in parts])
    low, high, error = (func(column, *more, **options) for column in columns)
    return Enclosure(low, high, error, all(part.given for part in parts))


def _truths(func: Any, known: Any, more: Any, results: Tensor) -> Truths:
    if func is aten.isnan.default:
        return Truths(results.double(), certain=True, values=torch.zeros_like(results))  # enclosed numbers are finite
    if not isinstance(known, Truths):
        raise Unproven("truths of numbers")
    values = None if known.values is None else func(known.values, *more)
    return Truths(func(known.like.bool(), *more).double(), known.certain, values)
