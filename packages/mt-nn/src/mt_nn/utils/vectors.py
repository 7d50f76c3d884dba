"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.errors import InputError
from mt_tensor import Tensor, cat, no_grad


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """Return all elements of some parameters, one after the other; gradients pass through.

    Raises:
        InputError: there are no parameters.
    """
    rows = [parameter.reshape(-1) for parameter in parameters]
    if not rows:
        raise InputError("parameters_to_vector() was given no parameters.")
    return cat(rows)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """Store the elements of a vector in parameters, one after the other.

    Raises:
        InputError: it is no vector, or has not as many elements as they; nothing was changed.
    """
    given = list(parameters)
    sizes = [parameter.numel() for parameter in given]
    if vec.shape != (sum(sizes),):
        raise InputError(
            f"the parameters have {sum(sizes)} elements; a tensor of shape {vec.shape} was given."
        )
    with no_grad():
        for parameter, part in zip(given, vec.detach().split(sizes), strict=True):
            parameter.copy_(part.view(*parameter.shape))
