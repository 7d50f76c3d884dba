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
    results = _floats(func(*leaves))
    places = [_Place(func, leaves, which, eps) for which, x in enumerate(leaves) if x.requires_grad]
    wrong = _wrong_at_once if fast_mode else _wrong_of_each
    found = wrong(results, places, lambda a, b: np.isclose(a, b, rtol=rtol, atol=atol))
    if found is not None:
        raise GradientError(found)
    return True


class _Place:
    """One of the inputs of a function, and how the results change with it."""

    def __init__(
        self, func: Callable[..., Any], inputs: Sequence[Tensor], position: int, eps: float
    ) -> None:
        self.position, self.leaf = position, inputs[position]
        self._func = func
        self._inputs = inputs
        self._eps = eps

    def along(self, pace: Array) -> list[Array]:
        """Return the central difference of each result, if each element moves at its pace."""
        inputs = [x.detach() for x in self._inputs]
        backend = inputs[self.position].backend
        values: Array = np.array(inputs[self.position], dtype=np.float64)
        sides = []
        for step in (self._eps, -self._eps):
            inputs[self.position] = tensor(values + step * pace, backend=backend)
            results = _floats(self._func(*inputs))
            sides.append([np.array(x.detach(), dtype=np.float64) for x in results])
        return [(above - below) / (2 * self._eps) for above, below in zip(*sides, strict=True)]


def _wrong_of_each(
    results: Sequence[Tensor], places: Sequence[_Place], close: Callable[..., Any]
) -> str | None:
    """Say where an element of a result changes otherwise with a leaf than its gradient says.

    The gradients come first, for the function may change in place what they read.
    """
    leaves = [place.leaf for place in places]
    exact = [_jacobians(result, leaves) for result in results]
    for which, place in enumerate(places):
        numeric = _differences(results, place)
        for number, (result, matrix) in enumerate(zip(results, numeric, strict=True)):
            wrong = ~close(exact[number][which], matrix)
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                of, by = at[: result.ndim], at[result.ndim :]
                return (
                    f"the gradient of result {number} at index {of} by input {place.position} "
                    f"at index {by} is {exact[number][which][at]}, but the central difference is "
                    f"{matrix[at]}; {int(wrong.sum())} of {wrong.size} differ."
                )
    return None


def _differences(results: Sequence[Tensor], place: _Place) -> list[Array]:
    """Return how each element of each result changes with a leaf: shapes (*result, *leaf)."""
    shape = place.leaf.shape
    matrices: list[Array] = [np.zeros(result.shape + shape) for result in results]
    for index in np.ndindex(shape):
        pace: Array = np.zeros(shape)
        pace[index] = 1.0
        for matrix, change in zip(matrices, place.along(pace), strict=True):
            matrix[(..., *index)] = change
    return matrices


def _jacobians(result: Tensor, leaves: Sequence[Tensor]) -> list[Array]:
    """Return the gradient of each element of a result by each leaf: shape (*result, *leaf).

    Each is asked for with a weight of 2, which a backward that is not proportional gives away.
    """
    matrices: list[Array] = [np.zeros(result.shape + leaf.shape) for leaf in leaves]
    for index in np.ndindex(result.shape):
        one: Array = np.zeros(result.shape)
        one[index] = 2.0
        rows = _gradients(result, leaves, tensor(one, backend=result.backend))
        for matrix, row in zip(matrices, rows, strict=True):
            matrix[index] = row / 2.0
    return matrices


def _wrong_at_once(
    results: Sequence[Tensor], places: Sequence[_Place], close: Callable[..., Any]
) -> str | None:
    """Say where all results, weighted, change otherwise with a leaf than the gradients promise."""
    leaves = [place.leaf for place in places]
    weights = [_upstream(result, float(number)) for number, result in enumerate(results)]
    exact = [
        _gradients(result, leaves, weight) for result, weight in zip(results, weights, strict=True)
    ]
    for which, place in enumerate(places):
        pace = _pace(place.leaf.shape, place.position)
        promised = sum(float((gradients[which] * pace).sum()) for gradients in exact)
        change = sum(
            float((np.array(weight) * moved).sum())
            for weight, moved in zip(weights, place.along(pace), strict=True)
        )
        if not close(promised, change):
            return (
                f"along one direction the gradient by input {place.position} is {promised}, but "
                f"the central difference is {change}: without fast_mode you are told where."
            )
    return None


def _gradients(result: Tensor, leaves: Sequence[Tensor], weight: Tensor) -> list[Array]:
    """Return the gradients of a weighted result, zeros where it does not depend on a leaf."""
    found: Sequence[Tensor | None] = [None] * len(leaves)
    if result.requires_grad:
        found = grad(result, leaves, weight, retain_graph=True, allow_unused=True)
    return [
        np.zeros(leaf.shape) if gradient is None else np.array(gradient.detach())
        for leaf, gradient in zip(leaves, found, strict=True)
    ]


def _floats(results: Any) -> list[Tensor]:
    """Return the tensors of floating point among the results of a function."""
    results = (results,) if isinstance(results, Tensor) else tuple(results)
    require_tensors("a check of gradients", *results)
    return [result for result in results if result.is_floating_point()]


def _upstream(result: Tensor, phase: float) -> Tensor:
    """Return weights for the elements of a result, in float64, of which no two are the same."""
    angles = phase + np.arange(result.numel(), dtype=np.float64)
    return tensor(np.cos(angles).reshape(result.shape), backend=result.backend)


def _pace(shape: tuple[int, ...], seed: int) -> Array:
    """Return how fast each element moves: by between half a step and a whole one, up or down."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.uniform(0.5, 1.0, shape) * rng.choice([-1.0, 1.0], shape))


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

    The arguments are those of `gradcheck`. The gradients are checked as a function of the inputs
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
    upstream = [_upstream(result, 2.0 + number) for number, result in enumerate(results)]

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
    sides = []
    with no_grad():
        for step in (epsilon, -epsilon):
            moved: Array = np.array(vals[arg].detach(), dtype=np.float64)
            moved[ind] += step
            changed = tensor(moved, dtype=vals[arg].dtype, backend=vals[arg].backend)
            sides.append(f(*(changed if i == arg else x for i, x in enumerate(vals))))
        change = (sides[0] - sides[1]).sum()  # of each element first, or small ones would be lost
    return float(change.item()) / (2.0 * epsilon)


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
