"""Modules that hold parameters, or members by name, and one that adds its input to its output.

The list and the dictionaries only hold what they are given, so that it belongs to the network;
whoever has one of them says the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Generic, TypeVar

import mt_operators
from mt_nn.core.containers import checked_module
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.errors import InputError
from mt_nn.layers.lists import Methods as ListMethods
from mt_operators import MemberError
from mt_tensor import Tensor

Held = TypeVar("Held")


class Identity(Module):
    """Return the input as it is: a placeholder where a layer may be. All arguments are ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class ModuleList(ListMethods):
    """A list of modules, without a `forward`.

    Args:
        modules: the first members.
    """

    def __init__(self, modules: Iterable[mt_operators.Module] | None = None) -> None:
        super().__init__()
        self.extend(() if modules is None else modules)

    def _part(self, part: slice) -> ModuleList:
        return ModuleList(list(self)[part])


class ParameterList(ListMethods):
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
        self.add_module(key, checked_module(self, f"member {key!r}", module))


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
        self.module = checked_module(self, "module", module)
        self.shortcut = None if shortcut is None else checked_module(self, "shortcut", shortcut)

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
