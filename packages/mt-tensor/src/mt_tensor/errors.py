"""The errors that mt_tensor raises: those of the core, and those of the folders beside it."""

from mt_tensor.core.errors import (
    AmbiguousBackendError as AmbiguousBackendError,
    BackendError as BackendError,
    BackendLoadError as BackendLoadError,
    BackendMismatchError as BackendMismatchError,
    BackendUnavailableError as BackendUnavailableError,
    DivisionByZeroError as DivisionByZeroError,
    DomainError as DomainError,
    DTypeError as DTypeError,
    IndexingError as IndexingError,
    InPlaceError as InPlaceError,
    ShapeError as ShapeError,
    TensorError as TensorError,
    UnknownBackendError as UnknownBackendError,
)


class LinAlgError(TensorError):
    """A matrix without a required property, such as a singular one that is to be inverted."""


class EquationError(TensorError, ValueError):
    """An equation of `einsum` that is malformed, or does not fit its operands."""


class ExchangeError(TensorError, BufferError):
    """Memory that cannot be shared with another library."""


class FusionError(TensorError, TypeError):
    """A function that cannot be fused because it is not elementwise."""


class CompileError(TensorError):
    """A function that cannot be compiled: a replay would not do what the function does."""


class CompileWarning(UserWarning):
    """A compiled function that runs eagerly, for the reason in the warning."""
