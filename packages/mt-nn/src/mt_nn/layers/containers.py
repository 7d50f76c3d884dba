"""Lists and dictionaries of modules and parameters, and `Identity`.

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


class _Parameters(Module):
    """Base class of collections of parameters."""

    def _members(self) -> dict[str, Any]:
        return self._parameters

    def _checked(self, member: Any) -> Any:
        if isinstance(member, mt_operators.Parameter):
            return member
        if not isinstance(member, Tensor):
            raise MemberError(
                f"{type(self).__name__} takes parameters and tensors; {member!r} was given."
            )
        return Parameter(member)

    def extra_repr(self) -> str:
        """Return a line for each parameter."""
        return "\n".join(
            f"({name}): Parameter of shape {parameter.value.shape} and {parameter.value.dtype.name}"
            for name, parameter in self._parameters.items()
        )


class ParameterList(_Parameters, ListMethods):
    """A list of parameters. Tensors are converted to parameters.

    Args:
        values: the initial members.
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(() if values is None else values)

    def _part(self, part: slice) -> ParameterList:
        return ParameterList(list(self)[part])


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
        """Return a member by name.

        Raises:
            KeyError: no member has this name.
        """
        return self._members()[key]

    def __delitem__(self, key: str) -> None:
        """Remove a member.

        Raises:
            KeyError: no member has this name.
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


class ParameterDict(_Parameters, _Dict[Any]):
    """A dictionary of parameters. Tensors are converted to parameters.

    Args:
        parameters: the initial members: a mapping, or pairs of name and parameter.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.update(parameters or {})

    def update(self, parameters: Any, **named: Any) -> None:  # type: ignore[override]  # as torch
        """Add members; as in torch, sort those of a plain dictionary by name."""
        ordered = isinstance(parameters, OrderedDict | ParameterDict)
        if isinstance(parameters, Mapping) and not ordered:
            parameters = [(name, parameters[name]) for name in sorted(parameters)]
        super().update(parameters, **named)

    def __setitem__(self, key: str, value: Any) -> None:
        """Register a parameter under a name.

        Raises:
            MemberError: it is neither a parameter nor a tensor.
            MemberNameError: the name is invalid.
        """
        self.register_parameter(key, self._checked(value))
