"""The errors that mt_tensor raises."""

from mt_tensor.core.errors import (
    AmbiguousBackendError,
    BackendError,
    BackendLoadError,
    BackendMismatchError,
    BackendUnavailableError,
    DivisionByZeroError,
    DomainError,
    DTypeError,
    IndexingError,
    InPlaceError,
    ShapeError,
    TensorError,
    UnknownBackendError,
)

__all__ = [
    "AmbiguousBackendError",
    "BackendError",
    "BackendLoadError",
    "BackendMismatchError",
    "BackendUnavailableError",
    "CompileError",
    "CompileWarning",
    "DTypeError",
    "DivisionByZeroError",
    "DomainError",
    "EquationError",
    "ExchangeError",
    "FusionError",
    "InPlaceError",
    "IndexingError",
    "LinAlgError",
    "ShapeError",
    "TensorError",
    "UnknownBackendError",
]


class LinAlgError(TensorError):
    """A matrix lacks a required property: for example, a matrix to invert is singular."""


class EquationError(TensorError, ValueError):
    """An equation of `einsum` is malformed, or does not match its operands."""


class ExchangeError(TensorError, BufferError):
    """Memory cannot be shared with another library."""


class FusionError(TensorError, TypeError):
    """A function cannot be fused because it is not elementwise."""


class CompileError(TensorError):
    """A function cannot be compiled, because a replay would not have the same effects."""


class CompileWarning(UserWarning):
    """A compiled function runs eagerly, for the reason in the warning."""
