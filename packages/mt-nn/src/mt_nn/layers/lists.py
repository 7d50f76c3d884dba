"""List methods of `Sequential`, `ModuleList` and `ParameterList`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

from mt_autodiff.core.registration import register_methods
from mt_nn.core.containers import Sequential, checked_module
from mt_nn.core.module import Module
from mt_tensor.core.arguments import as_integer


class Methods(Module):
    """Methods of lists, whose members have the names "0", "1", ... in state dictionaries.

    `register_methods` adds them to `Sequential`; the other lists have this class as their base, and
    override `_part`, and `_members` and `_checked` if the members are not modules. Indices, slices
    and errors are those of Python's lists; `append`, `extend` and `insert` return the list.
    """

    def _members(self) -> dict[str, Any]:
        """Return the members by name."""
        return self._modules

    def _checked(self, member: Any) -> Any:
        """Return a member as it is stored, or raise MemberError."""
        return checked_module(self, "the new member", member)

    def _part(self, part: slice) -> Any:
        """Return the members in a slice as a `Sequential`, with the same names."""
        return Sequential(dict(list(self._members().items())[part]))

    def _renumber(self, members: Iterable[Any]) -> None:
        """Replace all members, and number them from 0."""
        numbered = {str(position): member for position, member in enumerate(members)}
        self._members().clear()
        self._members().update(numbered)

    def _name_at(self, position: Any) -> str:
        names, index = list(self._members()), as_integer("the position", position)
        if not -len(names) <= index < len(names):
            raise IndexError(
                f"position {index} is out of range: {type(self).__name__} has {len(names)} "
                "member(s)."
            )
        return names[index]

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self._members())

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the members."""
        return iter(list(self._members().values()))

    def __contains__(self, member: object) -> bool:
        """Return whether an object is a member, compared by identity."""
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
        position = as_integer("index", index)
        *members, last = self.append(member)
        members.insert(position, last)
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


register_methods(Sequential, Methods)
