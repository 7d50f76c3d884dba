"""Run a function on Scalars or tensors, and compute the gradients of its arguments.

Each number in nested lists becomes a Scalar, or each list a tensor. The gradient is that of the sum
of all results, or of `loss` of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Function = Callable[..., Any]


def of_scalars(function: Function, *numbers: Any, loss: Function | None = None) -> tuple[Any, Any]:
    """Return the result of a function of Scalars, and the gradient of each argument."""
    from mt_autodiff import Scalar

    leaves = _mapped(Scalar, list(numbers))
    out = function(*leaves)
    sum(_parts(loss(out) if loss else out), Scalar(0.0)).backward()
    return out, _alone(_mapped(lambda leaf: leaf.grad or 0.0, leaves))


def of_tensors(function: Function, *numbers: Any, loss: Function | None = None) -> tuple[Any, Any]:
    """Return the result of a function of tensors, and the gradient of each argument."""
    import mt_tensor as mt

    leaves = [mt.tensor(each, requires_grad=True) for each in numbers]
    out = function(*leaves)
    totals: list[mt.Tensor] = [part.sum() for part in _parts(loss(out) if loss else out)]
    sum(totals[1:], totals[0]).backward()
    return out, _alone([leaf.grad for leaf in leaves])


def _mapped(function: Function, value: Any) -> Any:
    """Apply a function to each leaf of nested lists."""
    if isinstance(value, list):
        return [_mapped(function, part) for part in value]
    return function(value)


def _parts(value: Any) -> Iterator[Any]:
    """Yield the leaves of nested lists."""
    if isinstance(value, list):
        for part in value:
            yield from _parts(part)
    else:
        yield value


def _alone(gradients: list[Any]) -> Any:
    """Return a single gradient itself, and several as a list."""
    return gradients[0] if len(gradients) == 1 else gradients
