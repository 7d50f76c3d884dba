"""Parameters that are computed from others: what is trained lies behind what a layer uses.

A parametrized module is of a class of its own, in which the parameter's name is a property; what
it is computed from belongs to `module.parametrizations`, and so to the state dictionary.
"""

from __future__ import annotations

from typing import Any, TypeVar

from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.containers import ModuleDict, ModuleList
from mt_tensor import Tensor, no_grad

# fmt: off
__all__ = [
    "ParametrizationList", "is_parametrized", "register_parametrization", "remove_parametrizations",
]
# fmt: on

M = TypeVar("M", bound=Module)


class ParametrizationList(ModuleList):
    """The modules through which a parameter is computed, and what it is computed from.

    Args:
        modules: each takes what the one before returns. A module's `right_inverse`, if it has one,
            returns what it must be given for a value: a tensor, or several for the first module.
        original: the value so far.

    Attributes:
        original: what is trained; `original0`, `original1` and so on if these are several tensors.
    """

    def __init__(self, modules: list[Module], original: Tensor) -> None:
        super().__init__(modules)
        found = self._inverted(original)
        self._count = len(found) if isinstance(found, tuple) else 0
        for name, value in zip(self._names(), _several(found), strict=True):
            setattr(self, name, Parameter(value.detach().clone(), original.requires_grad))

    def _names(self) -> list[str]:
        return [f"original{number}" for number in range(self._count)] or ["original"]

    def _inverted(self, value: Any) -> Any:
        """Return what the first module must be given for a value."""
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    value = module.right_inverse(value)
        return value

    def right_inverse(self, value: Tensor) -> None:
        """Change what is trained so that a value is computed."""
        for name, part in zip(self._names(), _several(self._inverted(value)), strict=True):
            getattr(self, name).update(part)

    def forward(self) -> Tensor:
        """Return the value."""
        first, *rest = self
        value: Tensor = first(*(getattr(self, name) for name in self._names()))
        for module in rest:
            value = module(value)
        return value


def register_parametrization(
    module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> M:
    """Let a parameter of a module be computed by another module from now on.

    Args:
        module: what has the parameter; it is changed, and returned.
        tensor_name: the name of the parameter.
        parametrization: a module of it, or of what earlier ones compute.
        unsafe: whether to leave out the check that shape and dtype stay the same.

    Raises:
        SettingError: the module has no such parameter.
        InputError: the parametrization changes shape or dtype.
    """
    if is_parametrized(module, tensor_name):
        held: Any = module.parametrizations[tensor_name]
        before = held()
        held.append(parametrization)
        if hasattr(parametrization, "right_inverse"):
            held.right_inverse(before)
        _check_kept(before, held(), unsafe)
        return module
    parameter = module._parameters.get(tensor_name)
    if parameter is None:
        raise SettingError(f"{type(module).__name__} has no parameter {tensor_name!r}.")
    held = ParametrizationList([parametrization], parameter.value)
    _check_kept(parameter.value, held(), unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        kind = type(module)
        module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), {})
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = held
    setattr(type(module), tensor_name, _property(tensor_name))
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a parameter of a module is computed from others, or any is."""
    held = module._modules.get("parametrizations")
    return held is not None and (tensor_name is None or tensor_name in held._modules)


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Make a parameter one that is trained itself again.

    Args:
        module: what has the parameter; it is changed, and returned.
        tensor_name: the name of the parameter.
        leave_parametrized: whether it keeps the value that has been computed; otherwise it becomes
            what that was computed from.

    Raises:
        SettingError: the parameter is not computed from others, or, if what it was computed from is
            to be left, from several.
    """
    if not is_parametrized(module, tensor_name):
        raise SettingError(f"{type(module).__name__} computes no parameter {tensor_name!r}.")
    held: Any = module.parametrizations[tensor_name]
    if not leave_parametrized and "original" not in held._parameters:
        raise SettingError(
            f"{tensor_name} is computed from {len(held._parameters)} tensors, none of which can "
            "take its place: use leave_parametrized=True."
        )
    first = next(iter(held._parameters.values())).value
    value = held() if leave_parametrized else held.original
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        del module.parametrizations
        module.__class__ = type(module).__mro__[1]
    setattr(module, tensor_name, Parameter(value.detach(), first.requires_grad))
    return module


def _property(name: str) -> property:
    """Return the attribute that computes a parameter; what is assigned to it goes back to it."""

    def get(module: Any) -> Any:
        return module.parametrizations[name]()

    def put(module: Any, value: Tensor) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(get, put)


def _several(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _check_kept(before: Tensor, after: Tensor, unsafe: bool) -> None:
    if not unsafe and (before.shape != after.shape or before.dtype is not after.dtype):
        raise InputError(
            f"a parametrization keeps shape and dtype, here {before.shape} and "
            f"{before.dtype.name}; {after.shape} and {after.dtype.name} were returned. To change "
            "them, use unsafe=True."
        )
