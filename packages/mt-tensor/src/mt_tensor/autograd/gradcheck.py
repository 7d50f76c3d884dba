"""Gradients by finite differences, to check the exact ones against.

`gradcheck` and `gradgradcheck` are torch's; `grad_central_difference` and `grad_check` are those of
the course.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mt_autodiff import GradientError, NoGradientError, no_grad
from mt_tensor.arguments import check_flags
from mt_tensor.autograd.gradients import grad
from mt_tensor.creation.from_data import tensor
from mt_tensor.dtypes import Array, float64
from mt_tensor.errors import DTypeError
from mt_tensor.recording.function import require_tensors
from mt_tensor.tensors import Tensor

Index = int | tuple[int, ...]


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

    Each element of each input that requires grad is moved up and down by `eps`; the elements of
    the result are weighted differently, so that no two errors cancel.

    Args:
        func: from tensors to one or several.
        inputs: where to check: float64, of which at least one requires grad.
        eps: how far each element is moved.
        atol: how much may be wrong in any case.
        rtol: how much may be wrong, relative to the gradient.
        fast_mode: whether all elements of an input are moved at once, each at a pace of its own,
            and the change is compared with what the gradient promises. The time no longer grows
            with their number, and no index can be told.

    Returns:
        True, if all agree.

    Raises:
        DTypeError: an input that requires grad is not float64, which has too few digits.
        NoGradientError: no input requires grad.
        GradientError: one differs by more than `atol` plus `rtol` times its size; the message
            gives the input, the index and both numbers.
    """
    check_flags(fast_mode=fast_mode)
    inputs = _checked_inputs("gradcheck", inputs)

    def weighted(values: Sequence[Tensor]) -> Tensor:
        results = func(*values)
        total = tensor(0.0, dtype=float64, backend=inputs[0].backend)
        for number, result in enumerate((results,) if isinstance(results, Tensor) else results):
            angles = number + np.arange(result.numel(), dtype=np.float64)
            weights = tensor(np.cos(angles).reshape(result.shape), backend=result.backend)
            total = total + (result * weights).sum()
        return total

    leaves = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
    total = weighted(leaves)
    if total.requires_grad:
        total.backward()
    for position, leaf in enumerate(leaves):
        if not leaf.requires_grad:
            continue
        exact: Array = np.zeros(leaf.shape)
        if leaf.grad is not None:
            exact = np.array(leaf.grad.detach())
        if fast_mode:
            pace = _pace(leaf.shape, position)
            change = _central_difference(weighted, leaves, position, eps * pace) / (2 * eps)
            promised = float((exact * pace).sum())
            if not np.isclose(promised, change, rtol=rtol, atol=atol):
                raise GradientError(
                    f"along one direction the gradient by input {position} is {promised}, but the "
                    f"central difference is {change}: without fast_mode you are told where."
                )
            continue
        numeric = _numeric_gradient(weighted, leaves, position, eps)
        wrong = ~np.isclose(exact, numeric, rtol=rtol, atol=atol)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise GradientError(
                f"the gradient by input {position} at index {at} is {exact[at]}, but the central "
                f"difference is {numeric[at]}; {int(wrong.sum())} of {wrong.size} differ."
            )
    return True


def gradgradcheck(
    func: Callable[..., Tensor],
    inputs: Tensor | Sequence[Tensor],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    *,
    fast_mode: bool = False,
) -> bool:
    """Check the gradients of the gradients of a function against central differences.

    The arguments are those of `gradcheck`; `func` returns one tensor. Its gradients are checked as
    a function of the inputs and of the upstream gradient.

    Returns:
        True, if all agree.

    Raises:
        GradientError: one differs by more than `atol` plus `rtol` times its size.
        DTypeError: an input that requires grad is not float64.
        NoGradientError: no input requires grad.
    """
    inputs = _checked_inputs("gradgradcheck", inputs)
    with no_grad():
        result = func(*(x.detach() for x in inputs))
    angles = 0.5 + np.arange(result.numel(), dtype=np.float64)
    upstream = tensor(np.sin(angles).reshape(result.shape), backend=result.backend)

    def gradients(*values: Tensor) -> list[Tensor]:
        *points, weights = values
        arguments = [
            x if x.requires_grad or not given.requires_grad else x.detach().requires_grad_()
            for x, given in zip(points, inputs, strict=True)
        ]
        leaves = [x for x in arguments if x.requires_grad]
        output = func(*arguments)
        if not output.requires_grad:
            return []
        found = grad(output, leaves, weights, create_graph=True, allow_unused=True)
        return [gradient for gradient in found if gradient is not None]

    points = (*inputs, upstream.requires_grad_())
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
            sides.append(f(*(changed if i == arg else x for i, x in enumerate(vals))).sum().item())
    return float(sides[0] - sides[1]) / (2.0 * epsilon)


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


def _numeric_gradient(
    f: Callable[[Sequence[Tensor]], Tensor], inputs: Sequence[Tensor], position: int, eps: float
) -> Array:
    gradient: Array = np.zeros(inputs[position].shape)
    for index in np.ndindex(gradient.shape):
        step: Array = np.zeros_like(gradient)
        step[index] = eps
        gradient[index] = _central_difference(f, inputs, position, step) / (2 * eps)
    return gradient


def _central_difference(
    f: Callable[[Sequence[Tensor]], Tensor], inputs: Sequence[Tensor], position: int, step: Array
) -> float:
    """Return by how much a function changes from one step before an input to one step after it."""
    values: Array = np.array(inputs[position].detach(), dtype=np.float64)
    sides = []
    for moved in (values + step, values - step):
        changed = tensor(moved, backend=inputs[position].backend)
        others = [changed if i == position else x.detach() for i, x in enumerate(inputs)]
        sides.append(float(f(others).item()))
    return sides[0] - sides[1]


def _pace(shape: tuple[int, ...], seed: int) -> Array:
    """Return how fast each element moves: by between half a step and a whole one, up or down."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.uniform(0.5, 1.0, shape) * rng.choice([-1.0, 1.0], shape))
