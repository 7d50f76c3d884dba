"""Code for a replay: expressions for the arguments and the state of a compiled function."""

from __future__ import annotations

from typing import Any

from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.code_writer import CodeWriter
from mt_tensor.programs.pytree import leaves_in
from mt_tensor.programs.recorder import Recorder
from mt_tensor.programs.slots import Slot
from mt_tensor.programs.snapshot import Snapshot


class NotReplayable(Exception):  # noqa: N818 - users never see it
    """A replay cannot repeat an effect of a function; the message says which."""


class ReplayWriter(CodeWriter):
    """Writes the code of a replay, which finds tensors in arguments and slots.

    Attributes:
        recorder: the recorder of the program.
        snapshot: the state before the call.
        given: the arguments.
        rebound: the `Slot.id` of slots that held other tensors at another call.
        positions: the positions of tensors among the arguments, by identity.
        slots: the slots of tensors that may be other tensors at the next call, by identity.
        owners: the tensors whose gradient a tensor is, by the identity of the gradient.
    """

    def __init__(
        self,
        recorder: Recorder,
        snapshot: Snapshot,
        given: Arguments,
        rebound: set[Any],
    ) -> None:
        super().__init__()
        self.recorder = recorder
        self.snapshot = snapshot
        self.given = given
        self.rebound = rebound
        self.positions = {id(x): at for at, x in enumerate(given.leaves) if isinstance(x, Tensor)}
        self.slots = {
            id(value): slot
            for slot, value in reversed(snapshot.slots)
            if isinstance(value, Tensor) and self.is_rebound(slot)
        }
        grads = [(tensor, slots[1]) for tensor, slots in snapshot.tensors.values()]
        self.owners = {id(grad): tensor for tensor, grad in grads if grad is not None}
        self._new: dict[int, str] = {}

    def is_rebound(self, slot: Slot) -> bool:
        """Return whether a slot, or the tuple with it, may hold other tensors at the next call."""
        outer = self._outer(slot)
        return slot.id in self.rebound or (outer is not None and self.is_rebound(outer))

    def is_fixed(self, tensor: Tensor) -> bool:
        """Return whether the program is valid for this tensor object only."""
        key = id(tensor)
        return not (key in self.positions or key in self.slots or key in self.owners)

    def existed(self, tensor: Tensor) -> bool:
        """Return whether a tensor existed before the call."""
        return id(tensor) in self.positions or id(tensor) in self.snapshot.tensors

    def new_tensors(self, value: Any) -> list[Any]:
        """Return the operands of the tensors in a value that did not exist before the call."""
        tensors = [leaf for leaf in leaves_in(value) if isinstance(leaf, Tensor)]
        return [self.recorder.as_operands(each) for each in tensors if not self.existed(each)]

    # --- Expressions ----------------------------------------------------------------------------

    def expression(self, value: Any) -> str:
        """Return the expression for an operand or a tensor, nested ones, or a constant."""
        if not isinstance(value, Tensor):
            return super().expression(value)
        if self.existed(value):
            return self.tensor(value)
        if id(value) not in self._new:
            self._new[id(value)] = name = f"w{len(self._new)}"
            self.lines.append(f"{name} = {self.new_tensor(self.recorder.as_operands(value))}")
        return self._new[id(value)]

    def tensor(self, tensor: Tensor) -> str:
        """Return the expression for a tensor that existed before the call."""
        key = id(tensor)
        if key in self.positions:
            return f"u[{self.positions[key]}]"
        if key in self.slots:
            return self.slot(self.slots[key])
        if key in self.owners:
            return f"{self.tensor(self.owners[key])}._grad"
        return self.constant(tensor, "p")

    def slot(self, slot: Slot) -> str:
        """Return the expression for the value of a slot."""
        return self.holder(slot) + self.accessor(slot)

    def holder(self, slot: Slot) -> str:
        """Return the expression for the holder of a slot."""
        if isinstance(slot.holder, Tensor):
            return self.tensor(slot.holder)
        outer = self._outer(slot)
        return self.constant(slot.holder, "c") if outer is None else self.slot(outer)

    def accessor(self, slot: Slot) -> str:
        """Return the code between the holder of a slot and its value: an attribute or an index."""
        key = slot.key
        if not slot.is_item:
            return f".{key}"
        return f"[{key!r}]" if type(key) in (int, str) else f"[{self.constant(key)}]"

    def _outer(self, slot: Slot) -> Slot | None:
        """Return the slot of the tuple that a slot is in; None if the holder is not a tuple."""
        holder = slot.holder
        return self.snapshot.outer.get(id(holder)) if isinstance(holder, tuple) else None
