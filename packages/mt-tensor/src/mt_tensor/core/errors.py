"""The errors of tensors and backends.

The lesson begins with what can go wrong. The errors of this file derive from `TensorError`. It is a
`RuntimeError`, because torch raises that for most of what it refuses. Where code written for torch
or NumPy would catch another builtin exception (`ValueError`, `TypeError`, `IndexError`,
`NotImplementedError`), the error derives from that as well. Those at the end are about backends,
the places where tensors live; some in the middle belong to operations of the library. Beside these,
operations raise stage 1's errors of gradients, which are `RuntimeError`s too, and Python's
`TypeError` for an argument of a type that they do not take.
"""

from __future__ import annotations


class TensorError(RuntimeError):
    """Base of the errors raised by mt-tensor."""


class ShapeError(TensorError, ValueError):
    """Shapes that do not fit an operation, or each other."""


class IndexingError(TensorError, IndexError):
    """An index out of range, a dimension that is not there, or shapes that do not broadcast.

    The name is the course's.
    """


class DTypeError(TensorError, NotImplementedError, TypeError):
    """A dtype that an operation cannot work with."""


class DomainError(TensorError, ValueError):
    """A number outside of what an operation is defined for, such as a probability of 2."""


class DivisionByZeroError(TensorError, ZeroDivisionError):
    """An integer divided by zero: no integer is the result."""


class LinAlgError(TensorError):
    """A matrix without what was asked for: singular, it has no inverse, for example."""


class EquationError(TensorError, ValueError):
    """An equation for `einsum` that cannot be read, or that does not fit its operands."""


class ExchangeError(TensorError, BufferError):
    """Memory that cannot be shared with another library."""


class FusionError(TensorError, TypeError):
    """A function that cannot be fused: it does not treat each element by itself."""


class CompileError(TensorError):
    """A function that cannot be written down as a program: what it does would not be done again."""


class CompileWarning(UserWarning):
    """A compiled function is run as if it were not, for what the warning says."""


class InPlaceError(TensorError):
    """An in-place change that would make recorded derivatives wrong."""


class BackendError(TensorError):
    """Base of the errors about backends."""


class UnknownBackendError(BackendError, LookupError):
    """A backend was asked for by a name that nothing installed offers."""


class BackendLoadError(BackendError, ImportError):
    """A backend is installed but broken: importing or creating it failed."""


class BackendUnavailableError(BackendError):
    """A backend is installed and sound, but cannot run on this machine; it says why."""


class AmbiguousBackendError(BackendError, LookupError):
    """Two installed distributions claim the same backend name."""


class BackendMismatchError(BackendError):
    """One operation was given tensors of different backends."""
