"""Modules that hold other modules, or parameters, and what is done with them.

`Sequential` and `Residual` say how their modules are applied. The lists and dictionaries only hold
what they are given, so that it belongs to the network; whoever has one of them says the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Generic, Self, TypeVar

import mt_operators
from mt_nn.errors import InputError
from mt_nn.module import Module
from mt_nn.parameter import Parameter
from mt_operators import MemberError
from mt_tensor import Tensor
from mt_tensor.extending import as_integer

Held = TypeVar("Held")


class Identity(Module):
    """The input as it is: a place holder where a layer may be. All arguments are ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


# --- Lists --------------------------------------------------------------------------------------


class _List(Module, Generic[Held]):
    """What lists share: members that are called "0", "1", ... in state dictionaries."""

    def _members(self) -> dict[str, Held]:
        """Return the members by name."""
        raise NotImplementedError

    def _checked(self, member: Any) -> Held:
        """Return a member as it is held.

        Raises:
            MemberError: it cannot be one.
        """
        raise NotImplementedError

    def _rebuilt(self, members: Iterable[Held]) -> None:
        """Hold these members instead, and number them anew."""
        held = self._members()
        kept = list(members)
        held.clear()
        held.update((str(position), member) for position, member in enumerate(kept))

    def _name_at(self, position: Any) -> str:
        """Return the name of the member at a position, which may be counted from the end."""
        names, place = list(self._members()), as_integer("the position", position)
        if not -len(names) <= place < len(names):
            raise IndexError(
                f"position {place} is out of range: {type(self).__name__} has {len(names)} "
                "member(s)."
            )
        return names[place]

    def __len__(self) -> int:
        """Return how many members there are."""
        return len(self._members())

    def __iter__(self) -> Iterator[Held]:
        """Iterate over the members."""
        return iter(list(self._members().values()))

    def __contains__(self, member: object) -> bool:
        """Whether an object is one of the members itself."""
        return any(held is member for held in self)

    def __getitem__(self, position: Any) -> Any:
        """Return the member at a position, or a list of those in a slice.

        Raises:
            IndexError: there is no such position.
        """
        if isinstance(position, slice):
            return self._part(position)
        return self._members()[self._name_at(position)]

    def _part(self, part: slice) -> _List[Held]:
        """Return a list of the members in a slice."""
        raise NotImplementedError

    def __setitem__(self, position: int, member: Held) -> None:
        """Hold another member at a position.

        Raises:
            IndexError: there is no such position.
            MemberError: it cannot be a member.
        """
        setattr(self, self._name_at(position), self._checked(member))

    def __delitem__(self, position: int | slice) -> None:
        """Let go of a member, or of those in a slice; the others are numbered anew.

        Raises:
            IndexError: there is no such position.
        """
        members = list(self)
        if not isinstance(position, slice):
            self._name_at(position)
        del members[position]
        self._rebuilt(members)

    def append(self, member: Held) -> Self:
        """Hold another member at the end, and return the list.

        Raises:
            MemberError: it cannot be a member.
        """
        checked = self._checked(member)
        if str(len(self)) in self._members():  # of a part of a Sequential, which has kept its names
            self._rebuilt(self)
        setattr(self, str(len(self)), checked)
        return self

    def extend(self, members: Iterable[Held]) -> Self:
        """Hold more members at the end, and return the list."""
        for member in list(members):
            self.append(member)
        return self

    def insert(self, index: int, member: Held) -> Self:
        """Hold another member before a position, and return the list; all are numbered anew.

        Raises:
            MemberError: it cannot be a member.
        """
        place = as_integer("index", index)
        *members, last = self.append(member)
        members.insert(place, last)
        self._rebuilt(members)
        return self

    def pop(self, position: int = -1) -> Held:
        """Let go of a member, by default of the last, and return it.

        Raises:
            IndexError: there is no such position.
        """
        member: Held = self[position]
        del self[position]
        return member

    def __add__(self, other: Iterable[Held]) -> Any:
        """Return a list of the members of both."""
        return self._part(slice(0, 0)).extend(self).extend(other)

    def __iadd__(self, other: Iterable[Held]) -> Self:
        """Hold more members at the end."""
        return self.extend(other)


class _Modules(_List[mt_operators.Module]):
    """A list of modules."""

    def _members(self) -> dict[str, mt_operators.Module]:
        return self._modules

    def _checked(self, member: Any) -> mt_operators.Module:
        return _module(self, "another member", member)


class Sequential(_Modules):
    """Modules applied one after the other.

    They are called "0", "1", ... in state dictionaries, or as in the dictionary that they are given
    in: `Sequential(OrderedDict(hidden=Linear(3, 2), squash=Tanh()))`. A slice keeps the names.
    """

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, _module(self, f"member {name!r}", module))
            return
        for position, module in enumerate(modules):
            self.add_module(str(position), _module(self, f"argument {position}", module))

    def forward(self, input: Any) -> Any:
        """Pass the input through all modules."""
        for module in self._modules.values():
            input = module(input)
        return input

    def _part(self, part: slice) -> Sequential:
        return Sequential(dict(list(self._modules.items())[part]))


class ModuleList(_Modules):
    """A list of modules, which says nothing about how they are applied.

    Args:
        modules: the first of them.
    """

    def __init__(self, modules: Iterable[mt_operators.Module] | None = None) -> None:
        super().__init__()
        self.extend(() if modules is None else modules)

    def _part(self, part: slice) -> ModuleList:
        return ModuleList(list(self)[part])


class ParameterList(_List[Any]):
    """A list of parameters; tensors become ones.

    Args:
        values: the first of them.
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(() if values is None else values)

    def _members(self) -> dict[str, Any]:
        return self._parameters

    def _checked(self, member: Any) -> Any:
        return _parameter(self, member)

    def _part(self, part: slice) -> ParameterList:
        return ParameterList(list(self)[part])

    def extra_repr(self) -> str:
        """Show what they are."""
        return _described(self._parameters)


# --- Dictionaries -------------------------------------------------------------------------------


class _Dict(Module, MutableMapping[str, Held], Generic[Held]):
    """What dictionaries share: members under names of their own, in the order of their coming."""

    __eq__ = object.__eq__  # a module is itself, as a mapping would not be
    __hash__ = object.__hash__

    def _members(self) -> dict[str, Held]:
        """Return the members by name."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return how many members there are."""
        return len(self._members())

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(list(self._members()))

    def __getitem__(self, key: str) -> Held:
        """Return the member of a name.

        Raises:
            KeyError: there is none.
        """
        return self._members()[key]

    def __delitem__(self, key: str) -> None:
        """Let go of a member.

        Raises:
            KeyError: there is none.
        """
        del self._members()[key]


class ModuleDict(_Dict[mt_operators.Module]):
    """A dictionary of modules, which says nothing about how they are applied.

    Args:
        modules: the first of them: a mapping, or pairs of name and module.
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def _members(self) -> dict[str, mt_operators.Module]:
        return self._modules

    def __setitem__(self, key: str, module: mt_operators.Module) -> None:
        """Hold a module under a name.

        Raises:
            MemberError: it is no module.
            MemberNameError: it cannot be found under this name.
        """
        self.add_module(key, _module(self, f"member {key!r}", module))


class ParameterDict(_Dict[Any]):
    """A dictionary of parameters; tensors become ones.

    Args:
        parameters: the first of them: a mapping, or pairs of name and parameter.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.update(parameters or {})

    def _members(self) -> dict[str, Any]:
        return self._parameters

    def __setitem__(self, key: str, value: Any) -> None:
        """Hold a parameter under a name.

        Raises:
            MemberError: it is neither a parameter nor a tensor.
            MemberNameError: it cannot be found under this name.
        """
        self.register_parameter(key, _parameter(self, value))

    def extra_repr(self) -> str:
        """Show what they are."""
        return _described(self._parameters)


# --- Sums ---------------------------------------------------------------------------------------


class Residual(Module):
    """What a module makes of the input, added to the input: `shortcut(input) + module(input)`.

    After He et al., Deep Residual Learning for Image Recognition, 2015. torch does not have it.

    Args:
        module: the module.
        shortcut: what brings the input into the shape of the module's output; None if it has it.
    """

    def __init__(
        self, module: mt_operators.Module, shortcut: mt_operators.Module | None = None
    ) -> None:
        super().__init__()
        self.module = _module(self, "module", module)
        self.shortcut = None if shortcut is None else _module(self, "shortcut", shortcut)

    def forward(self, input: Any) -> Any:
        """Return the sum.

        Raises:
            InputError: its parts have different shapes.
        """
        added = self.module(input)
        kept = input if self.shortcut is None else self.shortcut(input)
        if kept.shape != added.shape:
            raise InputError(
                f"Residual adds tensors of one shape; {kept.shape} goes around its module, and "
                f"{added.shape} comes out of it. Give it a shortcut that brings the input there."
            )
        return kept + added


# --- What may be held ---------------------------------------------------------------------------


def _module(owner: Module, what: str, given: object) -> mt_operators.Module:
    if not isinstance(given, mt_operators.Module):
        raise MemberError(
            f"{type(owner).__name__} takes modules; {what} is {given!r}. Wrap functions "
            "in a Module with a forward method."
        )
    return given


def _parameter(owner: Module, given: object) -> mt_operators.Parameter:
    if isinstance(given, mt_operators.Parameter):
        return given
    if not isinstance(given, Tensor):
        raise MemberError(
            f"{type(owner).__name__} takes parameters and tensors; {given!r} was given."
        )
    return Parameter(given)


def _described(parameters: Mapping[str, Any]) -> str:
    """Return a line for each parameter."""
    return "\n".join(
        f"({name}): Parameter of shape {parameter.value.shape} and {parameter.value.dtype.name}"
        for name, parameter in parameters.items()
    )
