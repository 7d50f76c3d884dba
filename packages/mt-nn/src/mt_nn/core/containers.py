"""`Sequential`: modules applied one after the other, and edited like a Python list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import mt_operators
from mt_nn.core.module import Module
from mt_operators import MemberError
from mt_tensor.core.arguments import as_integer


class MemberList(Module):
    """Base of lists of modules, with members named "0", "1", ... in state dictionaries.

    A list of something else overrides `_members` and `_checked`. Indices and slices are those of
    Python's lists, and so are the errors; `append`, `extend` and `insert` return the list.
    """

    def _members(self) -> dict[str, Any]:
        """Return the members by name."""
        return self._modules

    def _checked(self, member: Any) -> Any:
        """Return a member as it is stored, or raise MemberError."""
        return checked_module(self, "another member", member)

    def _part(self, part: slice) -> MemberList:
        """Return a list of the members in a slice."""
        raise NotImplementedError

    def _renumber(self, members: Iterable[Any]) -> None:
        """Replace all members, and number them from 0."""
        numbered = {str(position): member for position, member in enumerate(members)}
        self._members().clear()
        self._members().update(numbered)

    def _name_at(self, position: Any) -> str:
        names, place = list(self._members()), as_integer("the position", position)
        if not -len(names) <= place < len(names):
            raise IndexError(
                f"position {place} is out of range: {type(self).__name__} has {len(names)} "
                "member(s)."
            )
        return names[place]

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self._members())

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the members."""
        return iter(list(self._members().values()))

    def __contains__(self, member: object) -> bool:
        """Return whether an object is one of the members itself."""
        return any(each is member for each in self)

    def __getitem__(self, position: Any) -> Any:
        """Return the member at a position, or a list of those in a slice."""
        if isinstance(position, slice):
            return self._part(position)
        return self._members()[self._name_at(position)]

    def __setitem__(self, position: int, member: Any) -> None:
        """Replace the member at a position."""
        setattr(self, self._name_at(position), self._checked(member))

    def __delitem__(self, position: int | slice) -> None:
        """Remove a member, or those in a slice; the others are renumbered."""
        members = list(self)
        if not isinstance(position, slice):
            self._name_at(position)
        del members[position]
        self._renumber(members)

    def append(self, member: Any) -> Self:
        """Add a member at the end."""
        checked = self._checked(member)
        if str(len(self)) in self._members():  # a slice of a Sequential keeps the names
            self._renumber(self)
        setattr(self, str(len(self)), checked)
        return self

    def extend(self, members: Iterable[Any]) -> Self:
        """Add members at the end."""
        for member in list(members):
            self.append(member)
        return self

    def insert(self, index: int, member: Any) -> Self:
        """Add a member before a position; all are renumbered."""
        place = as_integer("index", index)
        *members, last = self.append(member)
        members.insert(place, last)
        self._renumber(members)
        return self

    def pop(self, position: int = -1) -> Any:
        """Remove a member, by default the last, and return it."""
        member = self[position]
        del self[position]
        return member

    def __add__(self, other: Iterable[Any]) -> Any:
        """Return a list of the members of both."""
        return self._part(slice(0, 0)).extend(self).extend(other)

    def __iadd__(self, other: Iterable[Any]) -> Self:
        """Add members at the end."""
        return self.extend(other)


class Sequential(MemberList):
    """Modules applied one after the other.

    They are named "0", "1", ... in state dictionaries, or as in a dictionary:
    `Sequential(OrderedDict(hidden=Linear(3, 2), activation=Tanh()))`. A slice keeps the names.
    """

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, checked_module(self, f"member {name!r}", module))
            return
        for position, module in enumerate(modules):
            self.add_module(str(position), checked_module(self, f"argument {position}", module))

    def forward(self, input: Any) -> Any:
        """Pass the input through all modules."""
        for module in self._modules.values():
            input = module(input)
        return input

    def _part(self, part: slice) -> Sequential:
        return Sequential(dict(list(self._modules.items())[part]))


def checked_module(owner: Module, what: str, member: object) -> mt_operators.Module:
    """Return a member that is a module; raise MemberError for anything else."""
    if not isinstance(member, mt_operators.Module):
        raise MemberError(
            f"{type(owner).__name__} takes modules; {what} is {member!r}. Wrap functions "
            "in a Module with a forward method."
        )
    return member
