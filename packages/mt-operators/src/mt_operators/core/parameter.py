"""Members of modules: parameters, which are trained, and buffers, which are not.

Both hold a value of any type: a float here, a Scalar in stage 1, a tensor later. If the value has
the methods `detach`, `clone`, `copy_` or `requires_grad_`, they are used.
"""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any

from mt_operators.core.errors import StateDictError


class Holder:
    """Base class of `Parameter` and `Buffer`: a value that can be updated, saved and loaded."""

    def __init__(self, value: Any) -> None:
        self.update(value)

    @property
    def value(self) -> Any:
        """The current value."""
        return self._value

    def update(self, value: Any) -> None:
        """Replace the value."""
        self._value = value

    def state(self) -> Any:
        """Return the value for a state dictionary, detached from the computation graph."""
        value = self.value
        return value.detach() if hasattr(value, "detach") else value

    def checked_copy(self, saved: Any) -> Any:
        """Return a checked copy of a saved value, for `load`.

        Raises:
            StateDictError: the saved value has the wrong shape or type, or cannot be copied.
        """
        value = self.value
        if _is_number(value) and not _is_number(saved):
            raise StateDictError(f"{_described(saved)} was given for a number.")
        shape = getattr(value, "shape", None)
        if shape is not None and _shape(saved) != shape:
            raise StateDictError(
                f"{_described(saved)} was given for a {type(self).__name__} of shape {shape}."
            )
        if hasattr(saved, "detach"):
            return saved.detach().clone()
        try:
            return copy.deepcopy(saved)
        except TypeError as error:
            raise StateDictError(f"{_described(saved)} cannot be copied: {error}.") from error

    def load(self, value: Any) -> None:
        """Load a result of `checked_copy`, overwriting a Scalar or tensor in place."""
        if not hasattr(self.value, "copy_"):
            self.update(value)
            return
        requires_grad = self.value.requires_grad
        self.value.requires_grad_(False).copy_(value).requires_grad_(requires_grad)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class Parameter(Holder):
    """A trainable value; a Scalar or tensor is set to require grad.

    Args:
        value: the value.
        name: a name for messages and diagrams, which a Scalar or tensor gets, too.
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        self.name = name
        super().__init__(value)

    def update(self, value: Any) -> None:
        """Replace the value."""
        super().update(value)
        if hasattr(value, "requires_grad_"):
            value.requires_grad_(True)
            if self.name:  # for messages and diagrams
                value.name = self.name


class Buffer(Holder):
    """A value of a module's state that is not trained, such as a running mean.

    The state dictionary includes it if it is `persistent` and not None.
    """

    def __init__(self, value: Any, persistent: bool = True) -> None:
        super().__init__(value)
        self.persistent = persistent


def _is_number(value: Any) -> bool:
    """Return whether a value is a number or a Scalar, which has a gradient but no shape."""
    if hasattr(value, "requires_grad_"):
        return not hasattr(value, "shape")
    return isinstance(value, Real)


def _shape(value: Any) -> tuple[int, ...] | None:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return tuple(shape)
    return () if _is_number(value) else None


def _described(value: Any) -> str:
    shape = f" of shape {_shape(value)}" if hasattr(value, "shape") else ""
    return f"{type(value).__name__}{shape}"
