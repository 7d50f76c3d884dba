"""Where a program finds the tensors that it was given or that its state leads to."""

from __future__ import annotations

from typing import Any

from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.code_writer import Source
from mt_tensor.programs.snapshot import Place, Snapshot


class Locations:
    """The text for each tensor that a function was given, or that lay around it.

    Attributes:
        source: the text of the program.
        snapshot: what lay around.
        moved: the `Place.id` of places where other tensors have lain at another call.
        positions: for the identity of an argument, its number.
        moving: for the identity of a tensor, the place where another one may lie at the next run.
        owners: for the identity of a gradient, the tensor that it was of.
    """

    def __init__(
        self,
        source: Source,
        snapshot: Snapshot,
        moved: set[Any],
        arguments: list[tuple[Any, Any]],
    ) -> None:
        self.source = source
        self.snapshot = snapshot
        self.moved = moved
        self.positions = {
            id(x): at for at, pair in enumerate(arguments) for x in pair if isinstance(x, Tensor)
        }
        self.moving = {
            id(value): place
            for place, value in reversed(snapshot.places)
            if isinstance(value, Tensor) and self.is_moving(place)
        }
        slots = [(tensor, slots[1]) for tensor, slots in snapshot.tensors.values()]
        self.owners = {id(grad): tensor for tensor, grad in slots if grad is not None}

    def is_moving(self, place: Place) -> bool:
        """Whether other tensors may lie in a place, or in the tuple that has it."""
        if place.id in self.moved:
            return True
        outer = self._outer(place)
        return outer is not None and self.is_moving(outer)

    def is_fixed(self, tensor: Tensor) -> bool:
        """Whether a program is run with this very tensor."""
        key = id(tensor)
        return not (key in self.positions or key in self.moving or key in self.owners)

    def place(self, place: Place) -> str:
        """Return the text for what lies in a place, also if that is in a tuple."""
        outer = self._outer(place)
        return self.source.place(place) if outer is None else f"{self.place(outer)}[{place.key}]"

    def _outer(self, place: Place) -> Place | None:
        """Return where the tuple lies that has a place; None if no tuple has it."""
        holder = place.holder
        return self.snapshot.within.get(id(holder)) if isinstance(holder, tuple) else None

    def tensor(self, tensor: Tensor) -> str:
        """Return the text for a tensor."""
        key = id(tensor)
        if key in self.positions:
            return f"u[{self.positions[key]}]"
        if key in self.moving:
            return self.place(self.moving[key])
        if key in self.owners:
            return f"{self.tensor(self.owners[key])}._grad"
        return self.source.constant(tensor, "p")

    def knows(self, tensor: Tensor) -> bool:
        """Whether a tensor was there before."""
        return id(tensor) in self.positions or id(tensor) in self.snapshot.tensors
