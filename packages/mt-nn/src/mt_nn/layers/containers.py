"""Lists and dictionaries of modules and parameters, `Identity` and `Residual`.

Lists and dictionaries register their members in the network, and have no `forward`.
"""

from __future__ import annotations

from collections import OrderedDict
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

Member = TypeVar("Member")


class Identity(Module):
    """Return the input: a placeholder for a layer. All arguments are ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class ModuleList(ListMethods):
    """A list of modules, without a `forward`.

    Args:
        modules: the initial members.
    """

    def __init__(self, modules: Iterable[mt_operators.Module] | None = None) -> None:
        super().__init__()
        self.extend(() if modules is None else modules)

    def _part(self, part: slice) -> ModuleList:
        return ModuleList(list(self)[part])


class ParameterList(ListMethods):
    """A list of parameters. Tensors are converted to parameters.

    Args:
        values: the initial members.
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
        """Return a line for each parameter."""
        return _described(self._parameters)


class _Dict(Module, MutableMapping[str, Member], Generic[Member]):
    """Base class of dictionaries, in insertion order."""

    __eq__ = object.__eq__  # a module is compared by identity, unlike a mapping
    __hash__ = object.__hash__

    def _members(self) -> dict[str, Member]:
        """Return the members by name."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self._members())

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(list(self._members()))

    def __getitem__(self, key: str) -> Member:
        """Return the member with a name.

        Raises:
            KeyError: there is none.
        """
        return self._members()[key]

    def __delitem__(self, key: str) -> None:
        """Remove a member.

        Raises:
            KeyError: there is none.
        """
        del self._members()[key]


class ModuleDict(_Dict[mt_operators.Module]):
    """A dictionary of modules, without a `forward`.

    Args:
        modules: the initial members: a mapping, or pairs of name and module.
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def _members(self) -> dict[str, mt_operators.Module]:
        return self._modules

    def __setitem__(self, key: str, module: mt_operators.Module) -> None:
        """Register a module under a name.

        Raises:
            MemberError: it is not a module.
            MemberNameError: the name is invalid.
        """
        self.add_module(key, checked_module(self, f"member {key!r}", module))


class ParameterDict(_Dict[Any]):
    """A dictionary of parameters. Tensors are converted to parameters.

    Args:
        parameters: the initial members: a mapping, or pairs of name and parameter.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.update(parameters or {})

    def update(self, parameters: Any, **named: Any) -> None:  # type: ignore[override]  # as torch
        """Add members; as in torch, those of a mapping without a defined order sorted by name."""
        ordered = isinstance(parameters, OrderedDict | ParameterDict)
        if isinstance(parameters, Mapping) and not ordered:
            parameters = [(name, parameters[name]) for name in sorted(parameters)]
        super().update(parameters, **named)

    def _members(self) -> dict[str, Any]:
        return self._parameters

    def __setitem__(self, key: str, value: Any) -> None:
        """Register a parameter under a name.

        Raises:
            MemberError: it is neither a parameter nor a tensor.
            MemberNameError: the name is invalid.
        """
        self.register_parameter(key, _parameter(self, value))

    def extra_repr(self) -> str:
        """Return a line for each parameter."""
        return _described(self._parameters)


class Residual(Module):
    """Add the output of a module to its input: `shortcut(input) + module(input)`.

    After He et al., Deep Residual Learning for Image Recognition, 2015. torch has no such layer.

    Args:
        module: the module.
        shortcut: a module that maps the input to the shape of the output; None for the identity.
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
            InputError: the shapes differ.
        """
        out = self.module(input)
        shortcut = input if self.shortcut is None else self.shortcut(input)
        if shortcut.shape != out.shape:
            raise InputError(
                f"Residual adds tensors of one shape; the output of the module has shape "
                f"{out.shape}, and the other branch {shortcut.shape}. Pass a shortcut that maps "
                "the input to the shape of the output."
            )
        return shortcut + out


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
