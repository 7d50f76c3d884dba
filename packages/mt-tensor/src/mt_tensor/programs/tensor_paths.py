"""Expressions for the tensors and slots that a program reads or updates."""

from __future__ import annotations

from typing import Any

from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.code_writer import CodeWriter
from mt_tensor.programs.snapshot import Slot, Snapshot


class TensorPaths:
    """Expressions for the arguments of a function, and for the state that it can reach.

    Attributes:
        code: the code of the program.
        snapshot: the state.
        rebound: the `Slot.id` of slots that held other tensors at another call.
        positions: the position of each tensor among the arguments, by identity.
        slots: the slots of tensors that may be other tensors at the next call, by identity.
        owners: the tensors whose gradient a tensor is, by the identity of the gradient.
    """

    def __init__(
        self,
        code: CodeWriter,
        snapshot: Snapshot,
        rebound: set[Any],
        arguments: list[tuple[Any, Any]],
    ) -> None:
        self.code = code
        self.snapshot = snapshot
        self.rebound = rebound
        self.positions = {
            id(x): at for at, pair in enumerate(arguments) for x in pair if isinstance(x, Tensor)
        }
        self.slots = {
            id(value): slot
            for slot, value in reversed(snapshot.slots)
            if isinstance(value, Tensor) and self.is_rebound(slot)
        }
        grads = [(tensor, slots[1]) for tensor, slots in snapshot.tensors.values()]
        self.owners = {id(grad): tensor for tensor, grad in grads if grad is not None}

    def is_rebound(self, slot: Slot) -> bool:
        """Whether a slot, or the tuple that it is in, may hold other tensors at the next call."""
        outer = self._outer(slot)
        return slot.id in self.rebound or (outer is not None and self.is_rebound(outer))

    def is_constant(self, tensor: Tensor) -> bool:
        """Whether the program is only valid for this very tensor."""
        key = id(tensor)
        return not (key in self.positions or key in self.slots or key in self.owners)

    def existed(self, tensor: Tensor) -> bool:
        """Whether a tensor existed before the call."""
        return id(tensor) in self.positions or id(tensor) in self.snapshot.tensors

    def tensor(self, tensor: Tensor) -> str:
        """Return the expression for a tensor that existed before the call."""
        key = id(tensor)
        if key in self.positions:
            return f"u[{self.positions[key]}]"
        if key in self.slots:
            return self.slot(self.slots[key])
        if key in self.owners:
            return f"{self.tensor(self.owners[key])}._grad"
        return self.code.constant(tensor, "p")

    def slot(self, slot: Slot) -> str:
        """Return the expression for the value in a slot."""
        return self.holder(slot) + self.accessor(slot)

    def holder(self, slot: Slot) -> str:
        """Return the expression for the object that a slot belongs to."""
        outer = self._outer(slot)
        return self.code.constant(slot.holder, "c") if outer is None else self.slot(outer)

    def accessor(self, slot: Slot) -> str:
        """Return the code that follows the holder: an attribute or an index."""
        key = slot.key
        if not slot.is_item:
            return f".{key}"
        return f"[{key!r}]" if type(key) in (int, str) else f"[{self.code.constant(key)}]"

    def _outer(self, slot: Slot) -> Slot | None:
        """Return the slot of the tuple that a slot is in; None for other holders."""
        holder = slot.holder
        return self.snapshot.outer.get(id(holder)) if isinstance(holder, tuple) else None
