"""Checks of the tensors that an operation receives."""

from __future__ import annotations

from typing import Any

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import BackendMismatchError
from mt_tensor.core.tensor import Tensor


def require_tensors(name: str, *values: Any) -> None:
    """Raise `TypeError` unless all values are tensors."""
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}() takes tensors; {value!r} of type {type(value).__name__} was given. Make "
                "it one with mt_tensor.tensor(...)."
            )


def common_backend(*args: Any) -> TensorBackend | None:
    """Return the backend of all tensors among `args`; None if there is no tensor.

    Raises:
        BackendMismatchError: they belong to different backends.
    """
    backend: TensorBackend | None = None
    for arg in args:
        if isinstance(arg, Tensor):
            if backend is not None and arg.backend is not backend:
                raise BackendMismatchError(
                    f"an operation was given tensors of backends {backend.name!r} and "
                    f"{arg.backend.name!r}: move one of them, as in x.to({backend.name!r})."
                )
            backend = arg.backend
    return backend
