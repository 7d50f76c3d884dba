"""Gradients by finite differences, to check the exact ones against."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from mt_autodiff import GradientError
from mt_tensor.from_data import tensor
from mt_tensor.tensors import Tensor

Floats = npt.NDArray[np.float64]


def gradcheck(
    f: Callable[..., Tensor],
    inputs: Sequence[Tensor],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
) -> bool:
    """Check the gradients of `f` at float64 inputs against central differences.

    Each element of each input that requires grad is moved up and down by `eps`; the elements of
    the result are weighted differently, so that no two errors cancel.

    Returns:
        True, if all agree.

    Raises:
        GradientError: one differs by more than `atol` plus `rtol` times its size; the message
            gives the input, the index and both numbers.
    """

    def weighted(values: Sequence[Tensor]) -> Tensor:
        result = f(*values)
        weights = np.cos(np.arange(result.numel(), dtype=np.float64)).reshape(result.shape)
        return (result * tensor(weights, backend=result.backend)).sum()

    leaves = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
    total = weighted(leaves)
    if total.requires_grad:
        total.backward()
    for position, leaf in enumerate(leaves):
        if not leaf.requires_grad:
            continue
        numeric = _numeric_gradient(weighted, leaves, position, eps)
        exact: Floats = (
            np.zeros_like(numeric) if leaf.grad is None else np.array(leaf.grad.detach())
        )
        wrong = ~np.isclose(exact, numeric, rtol=rtol, atol=atol)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise GradientError(
                f"the gradient by input {position} at index {at} is {exact[at]}, but the central "
                f"difference is {numeric[at]}; {int(wrong.sum())} of {wrong.size} differ."
            )
    return True


def _numeric_gradient(
    f: Callable[[Sequence[Tensor]], Tensor], inputs: Sequence[Tensor], position: int, eps: float
) -> Floats:
    values: Floats = np.array(inputs[position].detach(), dtype=np.float64)
    gradient: Floats = np.zeros_like(values)
    for index in np.ndindex(values.shape):
        sides = []
        for step in (eps, -eps):
            moved = values.copy()
            moved[index] += step
            changed = tensor(moved, backend=inputs[position].backend)
            others = [changed if i == position else x.detach() for i, x in enumerate(inputs)]
            sides.append(f(others).item())
        gradient[index] = (sides[0] - sides[1]) / (2 * eps)
    return gradient
