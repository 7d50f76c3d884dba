"""The errors of tensors and backends.

All derive from `TensorError`, which is a `RuntimeError`, as most of torch's errors are. Errors for
which torch or NumPy raise another builtin exception (`ValueError`, `TypeError`, `IndexError`,
`NotImplementedError`) derive from that as well. Operations also raise the gradient errors of stage
1, and `TypeError` for an argument of the wrong type.
"""

from __future__ import annotations


class TensorError(RuntimeError):
    """Base class of the errors of mt-tensor."""


class ShapeError(TensorError, ValueError):
    """A shape that is invalid for an operation, or shapes that do not match."""


class IndexingError(TensorError, IndexError):
    """An index or a dimension out of range, or shapes that do not broadcast (MiniTorch's name)."""


class DTypeError(TensorError, NotImplementedError, TypeError):
    """A dtype that an operation does not support."""


class DomainError(TensorError, ValueError):
    """A number outside the domain of an operation, such as a probability of 2."""


class DivisionByZeroError(TensorError, ZeroDivisionError):
    """An integer divided by zero."""


class InPlaceError(TensorError):
    """An in-place change that would make recorded derivatives wrong."""


class BackendError(TensorError):
    """Base class of backend errors."""


class UnknownBackendError(BackendError, LookupError):
    """No backend of this name is installed or registered."""


class BackendLoadError(BackendError, ImportError):
    """Importing or creating an installed backend failed."""


class BackendUnavailableError(BackendError):
    """An installed backend that cannot run on this machine; the message says why."""


class AmbiguousBackendError(BackendError, LookupError):
    """A backend name that is built in, or provided by two installed distributions."""


class BackendMismatchError(BackendError):
    """Tensors of different backends in one operation."""
