"""The errors of tensors and backends.

All derive from `TensorError`, a `RuntimeError`, which torch raises for most mistakes. Where code
written for torch or NumPy would catch another builtin exception (`ValueError`, `TypeError`,
`IndexError`, `NotImplementedError`), the error derives from that as well. Operations also raise
stage 1's errors of gradients, and Python's `TypeError` for an argument of a wrong type.
"""

from __future__ import annotations


class TensorError(RuntimeError):
    """Base of the errors raised by mt-tensor."""


class ShapeError(TensorError, ValueError):
    """Shapes that do not fit an operation, or each other."""


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
    """Base of the errors about backends."""


class UnknownBackendError(BackendError, LookupError):
    """A name under which no backend is installed or registered."""


class BackendLoadError(BackendError, ImportError):
    """An installed backend that is broken: importing or creating it failed."""


class BackendUnavailableError(BackendError):
    """An installed backend that cannot run on this machine; the message says why."""


class AmbiguousBackendError(BackendError, LookupError):
    """A backend name that is built in, or claimed by two installed distributions."""


class BackendMismatchError(BackendError):
    """Tensors of different backends in one operation."""
