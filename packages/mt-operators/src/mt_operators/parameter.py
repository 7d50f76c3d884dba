"""What modules hold: parameters, which training changes, and buffers, which it leaves alone.

Both are holders of a value, and what the value is stays open: a float here, a recorded scalar in
stage 1, a tensor later. A holder asks its value what it can do (`detach`, `clone`, `copy_`), and so
serves every stage.
"""

from __future__ import annotations

import copy
import numbers
from typing import Any

from mt_operators.errors import StateDictError


class Holder:
    """What `Parameter` and `Buffer` share: a value that can be replaced, saved and loaded.

    Args:
        value: what to hold.
        name: what to call it.
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        self.name = name
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
        return _detached(self.value)

    def check(self, value: Any) -> None:
        """Raise StateDictError if a saved value does not fit: its shape is not that of this one."""
        if hasattr(self.value, "shape") and _shape(value) != tuple(self.value.shape):
            given = f"shape {_shape(value)}" if hasattr(value, "shape") else type(value).__name__
            raise StateDictError(
                f"{given} was given for a {type(self).__name__} of shape {tuple(self.value.shape)}."
            )

    def load(self, value: Any) -> None:
        """Take over a saved value that has passed `check`; later changes of either spare the other.

        What can be overwritten (a tensor) is, so that it stays where it is and whoever else holds
        it, such as an optimizer, sees the change. Anything else is replaced by a copy.
        """
        if hasattr(self.value, "copy_"):
            self.value.detach().copy_(_detached(value))
        else:
            self.update(_copied(value))

    def __repr__(self) -> str:
        """Show the value."""
        return f"{type(self).__name__}({self.value!r})"


class Parameter(Holder):
    """A value that training changes.

    If the value records computations (it has `requires_grad_`), it is asked to.
    """

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
        name: what to call it.
        persistent: whether it is part of the state dictionary.
    """

    def __init__(self, value: Any, name: str | None = None, persistent: bool = True) -> None:
        super().__init__(value, name)
        self.persistent = persistent


def _shape(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, numbers.Number):
        return ()
    return tuple(value.shape) if hasattr(value, "shape") else None


def _detached(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value


def _copied(value: Any) -> Any:
    if hasattr(value, "detach") and hasattr(value, "clone"):
        return value.detach().clone()
    return copy.deepcopy(value)
