"""What modules hold: parameters, which training changes, and buffers, which it leaves alone.

Here the second half of the lesson begins; of the first it needs the errors only. Both are holders
of a value, and what the value is stays open: a float here, a recorded scalar in stage 1, a tensor
later. A holder asks its value what it can do (`detach`, `clone`, `copy_`, `requires_grad_`), and so
serves every stage.
"""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any

from mt_operators.core.errors import StateDictError


class Holder:
    """What `Parameter` and `Buffer` share: a value that can be replaced, saved and loaded."""

    def __init__(self, value: Any) -> None:
        self.update(value)

    @property
    def value(self) -> Any:
        """The value held."""
        return self._value

    def update(self, value: Any) -> None:
        """Hold another value from now on."""
        self._value = value

    def state(self) -> Any:
        """Return the value as a state dictionary holds it: detached, if it records anything."""
        value = self.value
        return value.detach() if hasattr(value, "detach") else value

    def fitting(self, saved: Any) -> Any:
        """Return a saved value as `load` takes it: a copy that later changes of either spare.

        Raises:
            StateDictError: it is no number where one is held, or has another shape.
        """
        value = self.value
        if _is_number(value) and not _is_number(saved):
            raise StateDictError(f"{_described(saved)} was given where a number is held.")
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

    def load(self, fitting: Any) -> None:
        """Take over a value that `fitting` returned.

        What can be overwritten (a Scalar, a tensor) is, so that it stays where it is, stays frozen
        if it is, and whoever else holds it, such as an optimizer, sees the change.
        """
        if not hasattr(self.value, "copy_"):
            self.update(fitting)
            return
        requires_grad = self.value.requires_grad
        self.value.requires_grad_(False).copy_(fitting).requires_grad_(requires_grad)

    def __repr__(self) -> str:
        """Show the value."""
        return f"{type(self).__name__}({self.value!r})"


class Parameter(Holder):
    """A value that training changes.

    If the value records computations (it has `requires_grad_`), it is asked to.

    Args:
        value: what to hold.
        name: what to call the value in pictures, if it has a name.
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        self.name = name
        super().__init__(value)

    def update(self, value: Any) -> None:
        """Hold another value from now on."""
        super().update(value)
        if hasattr(value, "requires_grad_"):
            value.requires_grad_(True)
            if self.name:
                value.name = self.name


class Buffer(Holder):
    """A value that belongs to a module's state but is not trained, such as a running mean.

    A module that holds one reads and writes its value as if it were a plain attribute.

    Args:
        value: what to hold; a buffer that holds None is empty, and neither listed nor saved.
        persistent: whether it is part of the state dictionary.
    """

    def __init__(self, value: Any, persistent: bool = True) -> None:
        super().__init__(value)
        self.persistent = persistent


def _is_number(value: Any) -> bool:
    """Whether a value is a plain number, or records one: a Scalar is a number, a tensor is not."""
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
