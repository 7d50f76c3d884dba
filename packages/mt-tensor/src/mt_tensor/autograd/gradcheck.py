"""Gradients by finite differences, to check the exact ones against.

`gradcheck` and `gradgradcheck` are torch's; `grad_central_difference` and `grad_check` are those of
the course.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_autodiff import GradientError, NoGradientError, no_grad
from mt_tensor.autograd.gradients import grad
from mt_tensor.checks import validate_call
from mt_tensor.core.creation import tensor
from mt_tensor.core.dtypes import Array, float64
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import Shape, size_of
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError

Index = int | tuple[int, ...]


@validate_call
def gradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[Tensor],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    *,
    fast_mode: bool = False,
) -> bool:
    """Check the gradients of a function against central differences.

    Each element of each input that requires grad is moved up and down by `eps`. What that does to
    each element of a result is compared with its gradient, by itself: next to the rounding of a
    large element a small one would count for nothing.

    Args:
        func: from tensors to one or several, of which those of floating point are looked at.
        inputs: where to check: float64, of which at least one requires grad.
        eps: how far each element is moved.
        atol: how much may be wrong in any case.
        rtol: how much may be wrong, relative to the difference.
        fast_mode: whether all elements of an input are moved at once, each at a pace of its own,
            and the changes of all results, differently weighted, are compared with what the
            gradients promise. The time no longer grows with the number of elements; no index can be
            told, and what is wrong may be small beside the rest.

    Returns:
        True, if all agree.

    Raises:
        DTypeError: an input that requires grad is not float64, which has too few digits.
        NoGradientError: no input requires grad.
        GradientError: one differs by more than `atol` plus `rtol` times its size; the message
            gives the input, the index and both numbers.
    """
    inputs = _checked_inputs("gradcheck", inputs)
    leaves = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
    moved = [position for position, leaf in enumerate(leaves) if leaf.requires_grad]
    results = _floats(func(*leaves))
    weights = [_weights(x, fast_mode, float(number)) for number, x in enumerate(results)]
    # The gradients come first, for the function may change in place what they read.
    exact = [
        [_gradients(result, [leaves[at] for at in moved], weight) for weight in each]
        for result, each in zip(results, weights, strict=True)
    ]
    for which, position in enumerate(moved):
        paces = _paces(leaves[position].shape, fast_mode, position)
        changes = [_change(func, leaves, position, pace, eps) for pace in paces]
        for number, result in enumerate(results):
            by_gradient = _products([row[which] for row in exact[number]], paces)
            by_difference = _products(weights[number], [change[number] for change in changes])
            wrong = ~np.isclose(by_gradient, by_difference, rtol=rtol, atol=atol)
            if wrong.any():
                at = tuple(np.argwhere(wrong)[0])
                found = f"{by_gradient[at]}, but the central difference is {by_difference[at]}"
                if fast_mode:
                    raise GradientError(
                        f"along one direction the gradient by input {position} is {found}: without "
                        "fast_mode you are told where."
                    )
                of, by = (
                    tuple(map(int, np.unravel_index(place, shape)))
                    for place, shape in zip(at, (result.shape, leaves[position].shape), strict=True)
                )
                raise GradientError(
                    f"the gradient of result {number} at index {of} by input {position} at index "
                    f"{by} is {found}; {int(wrong.sum())} of {wrong.size} differ."
                )
    return True


def _weights(result: Tensor, fast_mode: bool, phase: float) -> list[Array]:
    """Return how the elements of a result are weighted: by a 1 for each, or at once."""
    return [_upstream(result.shape, phase)] if fast_mode else _ones_in_turn(result.shape)


def _paces(shape: Shape, fast_mode: bool, seed: int) -> list[Array]:
    """Return how fast the elements of a leaf move: one after the other, or all at once.

    All move by between half a step and a whole one, up or down.
    """
    if not fast_mode:
        return _ones_in_turn(shape)
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(0.5, 1.0, shape) * rng.choice([-1.0, 1.0], shape))]


def _ones_in_turn(shape: Shape) -> list[Array]:
    """Return zeros with a 1 in the place of each element."""
    size = size_of(shape)
    return list(np.eye(size).reshape(size, *shape))


def _products(first: Sequence[Array], second: Sequence[Array]) -> Array:
    """Return the sums of the products of each two arrays."""
    products = [[float((a * b).sum()) for b in second] for a in first]
    return np.array(products).reshape(len(first), len(second))


def _change(
    func: Callable[..., Any], leaves: Sequence[Tensor], position: int, pace: Array, eps: float
) -> list[Array]:
    """Return the central difference of each result, if each element of a leaf moves at its pace."""
    inputs = [x.detach() for x in leaves]
    leaf = inputs[position]
    values: Array = np.array(leaf, dtype=np.float64)
    sides = []
    for step in (eps, -eps):
        inputs[position] = tensor(values + step * pace, leaf.dtype, leaf.backend)
        results = _floats(func(*inputs))
        sides.append([np.array(x.detach(), dtype=np.float64) for x in results])
    return [(above - below) / (2 * eps) for above, below in zip(*sides, strict=True)]


def _gradients(result: Tensor, leaves: Sequence[Tensor], weight: Array) -> list[Array]:
    """Return the gradients of a weighted result, zeros where it does not depend on a leaf.

    They are computed with twice the weight, which a backward that is not proportional gives away.
    """
    if not result.requires_grad:
        return [np.zeros(leaf.shape) for leaf in leaves]
    twice = tensor(2.0 * weight, backend=result.backend)
    found = grad(result, leaves, twice, retain_graph=True, materialize_grads=True)
    return [np.array(gradient.detach()) / 2.0 for gradient in found if gradient is not None]


def _floats(results: Any) -> list[Tensor]:
    """Return the tensors of floating point among the results of a function."""
    results = (results,) if isinstance(results, Tensor) else tuple(results)
    require_tensors("a check of gradients", *results)
    return [result for result in results if result.is_floating_point()]


def _upstream(shape: Shape, phase: float) -> Array:
    """Return weights for the elements of a result of which no two are the same."""
    return np.asarray(np.cos(phase + np.arange(size_of(shape))).reshape(shape))


@validate_call
def gradgradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[Tensor],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    *,
    fast_mode: bool = False,
) -> bool:
    """Check the gradients of the gradients of a function against central differences.

    The arguments as for `gradcheck`. The gradients are checked as a function of the inputs
    and of the upstream gradients.

    Returns:
        True, if all agree.

    Raises:
        GradientError: one differs by more than `atol` plus `rtol` times its size.
        DTypeError: an input that requires grad is not float64.
        NoGradientError: no input requires grad.
    """
    inputs = _checked_inputs("gradgradcheck", inputs)
    with no_grad():
        results = _floats(func(*(x.detach() for x in inputs)))
    upstream = [
        tensor(_upstream(result.shape, 2.0 + number), backend=result.backend)
        for number, result in enumerate(results)
    ]

    def gradients(*values: Tensor) -> list[Tensor]:
        arguments = [
            x if x.requires_grad or not given.requires_grad else x.detach().requires_grad_()
            for x, given in zip(values[: len(inputs)], inputs, strict=True)
        ]
        leaves = [x for x in arguments if x.requires_grad]
        outputs = _floats(func(*arguments))
        recorded = [
            (output, weight)
            for output, weight in zip(outputs, values[len(inputs) :], strict=True)
            if output.requires_grad
        ]
        if not recorded:
            return []
        of, weights = zip(*recorded, strict=True)
        found = grad(of, leaves, weights, create_graph=True, allow_unused=True)
        return [gradient for gradient in found if gradient is not None]

    points = (*inputs, *(weight.requires_grad_() for weight in upstream))
    return gradcheck(gradients, points, eps, atol, rtol, fast_mode=fast_mode)


def grad_central_difference(
    f: Callable[..., Tensor], *vals: Tensor, arg: int = 0, epsilon: float = 1e-6, ind: Index
) -> float:
    """Return the central difference of the sum of `f`, by one element of an argument.

    Args:
        f: from tensors to a tensor.
        *vals: where to differentiate.
        arg: the index of the argument.
        epsilon: how far the element is moved up and down.
        ind: the index of the element.
    """
    pace: Array = np.zeros(vals[arg].shape)
    pace[ind] = 1.0
    with no_grad():
        (change,) = _change(f, vals, arg, pace, epsilon)
    return float(change.sum())


def grad_check(f: Callable[..., Tensor], *vals: Tensor) -> None:
    """Check the gradients of `f` at `vals`, by all of them, as `gradcheck` does in float64.

    Raises:
        GradientError: one differs from its central difference.
    """
    gradcheck(f, [x.detach().double().requires_grad_() for x in vals])


def _checked_inputs(name: str, given: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    inputs = tuple(given) if isinstance(given, Sequence) else (given,)
    require_tensors(name, *inputs)
    if not any(x.requires_grad for x in inputs):
        raise NoGradientError("there is nothing to check: no input requires grad.")
    for x in inputs:
        if x.requires_grad and x.dtype is not float64:
            raise DTypeError(
                f"an input is {x.dtype.name}, which has too few digits for finite differences: "
                "convert it with x.detach().double().requires_grad_()."
            )
    return inputs
