"""What a function has left changed, and how a program leaves the same.

A program puts new tensors in the places that the function put some: gradients in parameters, states
in dictionaries. What it cannot do again, such as adding to a list, is a reason to run the function
as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.program import TensorView, View
from mt_tensor.programs.pytree import leaves_in
from mt_tensor.programs.recorder import Recorder
from mt_tensor.programs.snapshot import Slot, same, slots_of
from mt_tensor.programs.symbolic_numbers import SymbolicNumbers
from mt_tensor.programs.tensor_paths import TensorPaths

Text = Callable[[], str]
"""Returns the text of something, once all memory has a name."""


class NotReplayable(Exception):  # noqa: N818 - it never reaches users
    """Why a program cannot leave what a function has left."""


class Effects:
    """What is to be put where, at the end of a run.

    Attributes:
        kept: the views of memory that somebody has afterwards.
        stores: what is put where: the text of an object and an attribute or key, and of the value.
        names: the names of new tensors that have one, by their identity.
        cleared: the tensors whose gradients are replaced, so that the old ones can be freed first.
    """

    def __init__(self, locations: TensorPaths, recorder: Recorder) -> None:
        self.locations = locations
        self.recorder = recorder
        self.outputs: list[View] = []
        self.stores: list[tuple[Text, str, Text]] = []
        self.names: dict[int, str] = {}
        self.cleared: list[Text] = []

    def find(self, numbers: SymbolicNumbers) -> None:
        """Note all changes but those of numbers that vary.

        Raises:
            NotReplayable: a program could not make one of them.
        """
        snapshot = self.locations.snapshot
        for place, before, now in snapshot.changed():
            if place.id not in numbers.inputs:
                self._place(place, before, now)
        grown = snapshot.grown()
        if grown is not None:
            raise NotReplayable(f"a {type(grown).__name__} gets other items")
        for tensor, slots in snapshot.tensors.values():
            self._tensor(tensor, slots)

    def write(self) -> None:
        """Write the stores: first all that is put, for it may lie where something is put.

        They are released then: each refers to these effects, so that only the garbage collector
        would free the gradients in them.
        """
        source = self.locations.code
        lines = []
        for number, (owner, target, value) in enumerate(self.stores):
            source.lines.append(f"o{number}, s{number} = {owner()}, {value()}")
            lines.append(f"o{number}{target} = s{number}")
        source.lines += lines
        self.stores.clear()

    # --- Places ---------------------------------------------------------------------------------

    def _place(self, place: Slot, before: Any, now: Any) -> None:
        if (isinstance(before, Tensor) or isinstance(now, tuple)) and alike(before, now):
            if not self.locations.is_rebound(place):
                self.locations.rebound.add(place.id)
                raise NotReplayable("tensors are put in a place that others had")
        elif not isinstance(now, Tensor) and not (isinstance(before, Tensor) and now is None):
            raise NotReplayable(f"what is in {place} is changed")
        for leaf in leaves_in(now):
            new = isinstance(leaf, Tensor) and not self.locations.existed(leaf)
            if new and (leaf._node is not None or leaf._requires_grad):
                raise NotReplayable(f"a tensor with a history is put in {place}: detach() it")
        self._store(place.holder, place, self._value(now))

    def _store(self, holder: Any, place: Slot, value: Text) -> None:
        owner = self.locations.code.constant(holder, "c")
        self.stores.append((lambda: owner, self.locations.accessor(place), value))

    def _value(self, value: Any) -> Text:
        """Return the text of a tensor, of a tuple of some, or of a constant."""
        locations, source = self.locations, self.locations.code
        if isinstance(value, Tensor):
            if locations.existed(value):
                return lambda: locations.tensor(value)
            tensor_view = TensorView(self.recorder.view(value._tensor), value.backend)
            self.outputs.append(tensor_view.view)
            return lambda: self.named(value, tensor_view)
        if not isinstance(value, tuple):
            return lambda: source.expression(value)
        parts = [self._value(each) for each in value]
        kind = source.constant(type(value)) if hasattr(value, "_fields") else ""

        def text() -> str:
            inner = ", ".join(part() for part in parts)
            return f"{kind}({inner}{',' if parts and not kind else ''})"

        return text

    def named(self, tensor: Tensor, tensor_view: TensorView) -> str:
        """Return the name of a new tensor, which may be put in several places, and returned."""
        name = self.names.get(id(tensor))
        if name is None:
            name = self.names[id(tensor)] = f"w{len(self.names)}"
            source = self.locations.code
            source.lines.append(f"{name} = {source.new_tensor(tensor_view)}")
        return name

    # --- Tensors --------------------------------------------------------------------------------

    def _tensor(self, tensor: Tensor, slots: tuple[Any, ...]) -> None:
        """Note what has become of the elements and the gradient of a tensor."""
        locations, source = self.locations, self.locations.code
        data, grad, *rest = slots_of(tensor)
        if not all(a is b for a, b in zip(rest, slots[2:], strict=True)):
            raise NotReplayable("the history of a tensor is changed")
        owner: Text = lambda: locations.tensor(tensor)  # noqa: E731 - as the others
        if data is not slots[0]:
            view = self.recorder.view(data)
            self.outputs.append(view)
            self.stores.append((owner, "._tensor", lambda: source.expression(view)))
        if grad is slots[1]:
            return
        if grad is not None and grad._node is not None:
            raise NotReplayable("a gradient with a history is left")
        if slots[1] is not None:
            self.cleared.append(owner)
        self.stores.append((owner, "._grad", self._value(grad)))


def alike(a: Any, b: Any) -> bool:
    """Whether two values are tensors, or tuples with tensors in the same places."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return isinstance(a, Tensor) and isinstance(b, Tensor)
    if isinstance(a, tuple) and type(a) is type(b) and len(a) == len(b):
        return all(map(alike, a, b))
    return same(a, b)
