"""Check gradients against finite differences.

`gradcheck` and `gradgradcheck` are as in torch; `grad_central_difference` and `grad_check` as in
the MiniTorch course.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_autodiff import GradientError, NoGradientError, no_grad
from mt_tensor.autograd.func import check_results
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

    Each element of each input that requires grad is increased and decreased by `eps`. The
    difference of each element of a result is compared with its gradient separately, since small
    elements would vanish in the rounding errors of large ones.

    Args:
        func: a function that returns one tensor or several; only floating-point ones are checked.
        inputs: the float64 inputs, of which at least one requires grad.
        eps: the step of the differences.
        atol: the absolute tolerance.
        rtol: the tolerance relative to the central difference.
        fast_mode: whether to change all elements of an input at once, in a random direction, and
            to compare a weighted sum of the results. The time does not depend on the number of
            elements, but errors have no index, and small ones may remain undetected.

    Returns:
        True if all gradients agree.

    Raises:
        DTypeError: an input that requires grad is not float64; others are not precise enough.
        NoGradientError: no input requires grad.
        GradientError: a gradient differs from its central difference `d` by more than
            `atol + rtol * abs(d)`; the message gives the input, the index and both numbers.
    """
    inputs = _checked_inputs("gradcheck", inputs)
    leaves = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
    selected = [position for position, leaf in enumerate(leaves) if leaf.requires_grad]
    results = _floats(func(*leaves))
    weights = [_weights(x, fast_mode, float(number)) for number, x in enumerate(results)]
    # Compute gradients first, since the function may change saved tensors in place.
    exact = [
        [_gradients(result, [leaves[at] for at in selected], weight) for weight in each]
        for result, each in zip(results, weights, strict=True)
    ]
    for which, position in enumerate(selected):
        directions = _directions(leaves[position].shape, fast_mode, position)
        changes = [_change(func, leaves, position, direction, eps) for direction in directions]
        for number, result in enumerate(results):
            by_gradient = _products([row[which] for row in exact[number]], directions)
            by_difference = _products(weights[number], [change[number] for change in changes])
            wrong = ~np.isclose(by_gradient, by_difference, rtol=rtol, atol=atol)
            if wrong.any():
                at = tuple(np.argwhere(wrong)[0])
                found = f"{by_gradient[at]}, but the central difference is {by_difference[at]}"
                if fast_mode:
                    raise GradientError(
                        "gradcheck(): along a random direction, the gradient with respect to "
                        f"input {position} is {found}: run without fast_mode to find the index."
                    )
                of, by = (
                    tuple(map(int, np.unravel_index(flat, shape)))
                    for flat, shape in zip(at, (result.shape, leaves[position].shape), strict=True)
                )
                raise GradientError(
                    f"gradcheck(): the gradient of result {number} at index {of} with respect to "
                    f"input {position} at index {by} is {found}; {int(wrong.sum())} of "
                    f"{wrong.size} differ."
                )
    return True


def _weights(result: Tensor, fast_mode: bool, phase: float) -> list[Array]:
    """Return weights of the elements of a result: one-hot arrays, or a single dense one."""
    return [_upstream(result.shape, phase)] if fast_mode else _one_hot_arrays(result.shape)


def _directions(shape: Shape, fast_mode: bool, seed: int) -> list[Array]:
    """Return directions of change of a leaf: one-hot arrays, or a single random one.

    The magnitudes of a random direction are between 0.5 and 1.
    """
    if not fast_mode:
        return _one_hot_arrays(shape)
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(0.5, 1.0, shape) * rng.choice([-1.0, 1.0], shape))]


def _one_hot_arrays(shape: Shape) -> list[Array]:
    """Return a one-hot array for each element."""
    size = size_of(shape)
    return list(np.eye(size).reshape(size, *shape))


def _products(first: Sequence[Array], second: Sequence[Array]) -> Array:
    """Return the matrix of inner products of two lists of arrays."""
    products = [[float((a * b).sum()) for b in second] for a in first]
    return np.array(products).reshape(len(first), len(second))


def _change(
    func: Callable[..., Any], leaves: Sequence[Tensor], position: int, direction: Array, eps: float
) -> list[Array]:
    """Return the central differences of the results along a direction of change of a leaf."""
    inputs = [x.detach() for x in leaves]
    leaf = inputs[position]
    values: Array = np.array(leaf, dtype=np.float64)
    sides = []
    for step in (eps, -eps):
        inputs[position] = tensor(values + step * direction, leaf.dtype, leaf.backend)
        results = _floats(func(*inputs))
        sides.append([np.array(x.detach(), dtype=np.float64) for x in results])
    return [(upper - lower) / (2 * eps) for upper, lower in zip(*sides, strict=True)]


def _gradients(result: Tensor, leaves: Sequence[Tensor], weight: Array) -> list[Array]:
    """Return the gradients of a weighted result, zeros for leaves on which it does not depend.

    Doubling the weight detects a backward pass that is not linear in the upstream gradient.
    """
    if not result.requires_grad:
        return [np.zeros(leaf.shape) for leaf in leaves]
    twice = tensor(2.0 * weight, backend=result.backend)
    found = grad(result, leaves, twice, retain_graph=True, materialize_grads=True)
    return [np.array(gradient.detach()) / 2.0 for gradient in found if gradient is not None]


def _floats(results: Any) -> list[Tensor]:
    """Return the floating-point tensors among the results of a function."""
    results = results if isinstance(results, Sequence) else (results,)
    check_results("the function to check", *results)
    return [result for result in results if result.is_floating_point()]


def _upstream(shape: Shape, phase: float) -> Array:
    """Return distinct weights for the elements of a result."""
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
    """Check the second derivatives of a function against central differences.

    The arguments are those of `gradcheck`. The gradients are checked as a function of the inputs
    and of the upstream gradients.

    Returns:
        True if all gradients agree.

    Raises:
        GradientError: a gradient differs from its central difference `d` by more than
            `atol + rtol * abs(d)`.
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
    """Return the central difference of `f().sum()` with respect to an element of an argument.

    Args:
        f: a function of tensors that returns a tensor.
        *vals: the arguments.
        arg: the index of the argument to change.
        epsilon: the step.
        ind: the index of the element.
    """
    direction: Array = np.zeros(vals[arg].shape)
    direction[ind] = 1.0
    with no_grad():
        (change,) = _change(f, vals, arg, direction, epsilon)
    return float(change.sum())


def grad_check(f: Callable[..., Tensor], *vals: Tensor) -> None:
    """Check the gradients of `f` with respect to all arguments in float64; see `gradcheck`.

    Raises:
        GradientError: a gradient differs from its central difference.
    """
    gradcheck(f, [x.detach().double().requires_grad_() for x in vals])


def _checked_inputs(name: str, given: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    inputs = tuple(given) if isinstance(given, Sequence) else (given,)
    require_tensors(name, *inputs)
    if not any(x.requires_grad for x in inputs):
        raise NoGradientError(f"{name}() needs an input that requires grad; there is none.")
    for x in inputs:
        if x.requires_grad and x.dtype is not float64:
            raise DTypeError(
                f"{name}() needs float64 inputs, since finite differences in {x.dtype.name} are "
                "not precise enough: convert them with x.detach().double().requires_grad_()."
            )
    return inputs
