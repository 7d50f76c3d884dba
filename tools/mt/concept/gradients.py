"""What most inputs run: a function of Scalars or of tensors, and the gradients by its arguments.

Numbers become Scalars one by one, wherever they stand in nested lists; each list becomes a tensor.
What is differentiated is the sum of all that the function gives, or of what `loss` makes of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Function = Callable[..., Any]


def of_scalars(function: Function, *numbers: Any, loss: Function | None = None) -> tuple[Any, Any]:
    """Return what a function makes of Scalars, and the gradient by each of its arguments."""
    from mt_autodiff import Scalar

    leaves = _mapped(Scalar, list(numbers))
    out = function(*leaves)
    sum(_parts(loss(out) if loss else out), Scalar(0.0)).backward()
    return out, _alone(_mapped(lambda leaf: leaf.grad or 0.0, leaves))


def of_tensors(function: Function, *numbers: Any, loss: Function | None = None) -> tuple[Any, Any]:
    """Return what a function makes of tensors, and the gradient by each of its arguments."""
    import mt_tensor as mt

    leaves = [mt.tensor(each, requires_grad=True) for each in numbers]
    out = function(*leaves)
    totals: list[mt.Tensor] = [part.sum() for part in _parts(loss(out) if loss else out)]
    sum(totals[1:], totals[0]).backward()
    return out, _alone([leaf.grad for leaf in leaves])


def _mapped(function: Function, value: Any) -> Any:
    """Return nested lists with a function applied to all that is no list."""
    if isinstance(value, list):
        return [_mapped(function, part) for part in value]
    return function(value)


def _parts(value: Any) -> Iterator[Any]:
    """Yield all that is in nested lists."""
    if isinstance(value, list):
        for part in value:
            yield from _parts(part)
    else:
        yield value


def _alone(gradients: list[Any]) -> Any:
    """Return the only gradient, or a list of several."""
    return gradients[0] if len(gradients) == 1 else gradients
