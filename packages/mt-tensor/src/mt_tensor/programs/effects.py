"""The side effects of a function, and the code that repeats them.

A replay assigns new tensors to the slots to which the function assigned some: gradients of
parameters, items of dictionaries. A function with other side effects, such as an append to a list,
has no program.
"""

from __future__ import annotations

from typing import Any

from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.comparison import same
from mt_tensor.programs.program import View
from mt_tensor.programs.pytree import leaves_in
from mt_tensor.programs.replay_writer import NotReplayable, ReplayWriter
from mt_tensor.programs.slots import Slot
from mt_tensor.programs.snapshot import slots_of


class Effects:
    """The assignments at the end of a replay.

    Attributes:
        outputs: the views of new tensors that are assigned.
        replaced: the slots of gradients that existed before the call and are replaced.
    """

    def __init__(self, code: ReplayWriter) -> None:
        """Find all side effects.

        Raises:
            NotReplayable: a replay could not repeat one of them.
        """
        self.code = code
        self.outputs: list[View] = []
        self.replaced: list[Slot] = []
        snapshot, numbers = code.snapshot, code.recorder.numbers
        updates = numbers.updates()
        if updates is None:
            raise NotReplayable("it changes a number of an optimizer outside of its steps")
        self._stores: list[tuple[Slot, Any]] = updates
        for slot, before, now in snapshot.changed():
            if slot.id not in numbers.inputs:
                self._assigned(slot, before, now)
        container = snapshot.changed_container()
        if container is not None:
            raise NotReplayable(f"it changes the items of a {type(container).__name__}")
        for tensor, slots in snapshot.tensors.values():
            self._tensor(tensor, slots)

    def write(self) -> None:
        """Write the assignments, after all values, which may depend on slots that change."""
        lines = []
        for number, (slot, value) in enumerate(self._stores):
            holder, stored = self.code.holder(slot), self.code.expression(value)
            self.code.lines.append(f"o{number}, s{number} = {holder}, {stored}")
            lines.append(f"o{number}{self.code.accessor(slot)} = s{number}")
        self.code.lines += lines
        self._stores.clear()  # which refer to the gradients of this call

    def _store(self, slot: Slot, value: Any) -> None:
        self.outputs += [each.view for each in self.code.new_tensors(value)]
        self._stores.append((slot, value))

    def _assigned(self, slot: Slot, before: Any, now: Any) -> None:
        """Note that a slot holds another value."""
        code = self.code
        if (isinstance(before, Tensor) or isinstance(now, tuple)) and same_structure(before, now):
            if not code.is_rebound(slot):
                code.rebound.add(slot.id)
                raise NotReplayable(f"it replaces the tensors in {slot}")
        elif not isinstance(now, Tensor) and not (isinstance(before, Tensor) and now is None):
            raise NotReplayable(f"it changes the value of {slot}")
        for leaf in leaves_in(now):
            new = isinstance(leaf, Tensor) and not code.existed(leaf)
            if new and (leaf._node is not None or leaf._requires_grad):
                raise NotReplayable(f"it assigns a tensor with a graph to {slot}: detach() it")
        self._store(slot, now)

    def _tensor(self, tensor: Tensor, slots: tuple[Any, ...]) -> None:
        """Note how the elements and the gradient of a tensor have changed."""
        data, grad, *rest = slots_of(tensor)
        if not all(a is b for a, b in zip(rest, slots[2:], strict=True)):
            raise NotReplayable("it changes the graph of a tensor that existed before")
        if data is not slots[0]:
            view = self.code.recorder.view(data)
            self.outputs.append(view)
            self._stores.append((Slot(tensor, "_tensor", False), view))
        if grad is not slots[1]:
            if grad is not None and grad._node is not None:
                raise NotReplayable("it leaves a gradient with a graph")
            slot = Slot(tensor, "_grad", False)
            self._store(slot, grad)
            if slots[1] is not None:
                self.replaced.append(slot)


def same_structure(a: Any, b: Any) -> bool:
    """Return whether two values are tensors, or equal except for the tensors in them."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return isinstance(a, Tensor) and isinstance(b, Tensor)
    if isinstance(a, tuple) and type(a) is type(b) and len(a) == len(b):
        return all(map(same_structure, a, b))
    return same(a, b)
