"""Parametrizations: parameters that are computed from others, which are trained instead.

A parametrized module gets its own class, in which the name of the parameter is a property. The
original parameters belong to `module.parametrizations`, and so to the state dictionary.
"""

from __future__ import annotations

from collections.abc import Callable
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
    """The modules that compute a parameter, and the original parameters.

    Args:
        modules: the modules, applied one after the other. The optional method `right_inverse`
            returns the input of the module for a value: a tensor, or several for the first module.
        original: the current value.

    Attributes:
        original: the trained parameter; `original0`, `original1` and so on if there are several.
    """

    def __init__(self, modules: list[Module], original: Tensor) -> None:
        super().__init__(modules)
        inputs = self._inverted(original)
        self._count = len(inputs) if isinstance(inputs, tuple) else 0
        for name, value in zip(self._names(), _as_tuple(inputs), strict=True):
            setattr(self, name, Parameter(value.detach().clone(), original.requires_grad))

    def _names(self) -> list[str]:
        return [f"original{number}" for number in range(self._count)] or ["original"]

    def _inverted(self, value: Any) -> Any:
        """Return the inputs of the first module for a value."""
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    value = module.right_inverse(value)
        return value

    def right_inverse(self, value: Tensor) -> None:
        """Set the original parameters so that `forward` returns a value."""
        for name, part in zip(self._names(), _as_tuple(self._inverted(value)), strict=True):
            getattr(self, name).update(part)

    def extra_repr(self) -> str:
        """Return no text, as torch does: the original parameters are not shown."""
        return ""

    def forward(self) -> Tensor:
        """Compute the parameter."""
        first, *rest = self
        value: Tensor = first(*(getattr(self, name) for name in self._names()))
        for module in rest:
            value = module(value)
        return value


def register_parametrization(
    module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> M:
    """Compute a parameter of a module with another module.

    Args:
        module: the module with the parameter, which is changed and returned.
        tensor_name: the name of the parameter.
        parametrization: a module applied to the parameter, after earlier parametrizations.
        unsafe: whether to skip the check that shape and dtype do not change.

    Raises:
        SettingError: the module has no such parameter.
        InputError: the parametrization changes shape or dtype.
    """
    if is_parametrized(module, tensor_name):
        existing: Any = module.parametrizations[tensor_name]
        before = existing()
        existing.append(parametrization)
        if hasattr(parametrization, "right_inverse"):
            existing.right_inverse(before)
        _check_unchanged(before, existing(), unsafe)
        return module
    parameter = parameter_of(module, tensor_name)
    computed = ParametrizationList([parametrization], parameter.value)
    _check_unchanged(parameter.value, computed(), unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        kind = type(module)
        module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), {})
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = computed
    setattr(type(module), tensor_name, _property(tensor_name))
    return module


def parameter_of(module: Module, name: str) -> Any:
    """Return a parameter of a module, not of its submodules, by name.

    Raises:
        SettingError: the module has no such parameter.
    """
    parameter = module._parameters.get(name)
    if parameter is None:
        raise SettingError(f"{type(module).__name__} has no parameter {name!r}.")
    return parameter


def compute_attribute(module: Module, name: str, compute: Callable[[Any], Tensor] | None) -> None:
    """Compute an attribute of one module at each access; stop doing so if `compute` is None.

    The module gets its own class, which copies of it share, and which is replaced, never changed.

    Args:
        module: the module, which has no member of this name.
        name: the name of the attribute.
        compute: a function of the module, or None.
    """
    kind = type(module)
    existing = vars(kind).get("_computed")
    base = kind if existing is None else kind.__mro__[1]
    computed = {n: each for n, each in (existing or {}).items() if n != name}
    if compute is not None:
        computed[name] = property(compute)
    body = {"_computed": computed, "__module__": base.__module__, **computed}
    module.__class__ = type(base.__name__, (base,), body) if computed else base


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a parameter of a module is parametrized.

    Args:
        module: the module.
        tensor_name: the name of the parameter; None for any parameter.
    """
    lists = module._modules.get("parametrizations")
    return lists is not None and (tensor_name is None or tensor_name in lists._modules)


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Replace a parametrized parameter with an ordinary one.

    Args:
        module: the module with the parameter, which is changed and returned.
        tensor_name: the name of the parameter.
        leave_parametrized: whether to keep the computed value; otherwise, the original one.

    Raises:
        SettingError: the parameter is not parametrized; or `leave_parametrized` is False, and there
            are several original parameters.
    """
    if not is_parametrized(module, tensor_name):
        raise SettingError(
            f"{type(module).__name__} has no parametrized parameter {tensor_name!r}."
        )
    computed: Any = module.parametrizations[tensor_name]
    if not leave_parametrized and "original" not in computed._parameters:
        raise SettingError(
            f"{tensor_name} is computed from {len(computed._parameters)} tensors, none of which "
            "can replace it: use leave_parametrized=True."
        )
    first = next(iter(computed._parameters.values())).value
    value = computed() if leave_parametrized else computed.original
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        del module.parametrizations
        module.__class__ = type(module).__mro__[1]
    setattr(module, tensor_name, Parameter(value.detach(), first.requires_grad))
    return module


def _property(name: str) -> property:
    """Return a property that computes a parameter, and whose setter sets the original ones."""

    def get(module: Any) -> Any:
        return module.parametrizations[name]()

    def set_value(module: Any, value: Tensor) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(get, set_value)


def _as_tuple(inputs: Any) -> tuple[Any, ...]:
    return inputs if isinstance(inputs, tuple) else (inputs,)


def _check_unchanged(before: Tensor, after: Tensor, unsafe: bool) -> None:
    if not unsafe and (before.shape != after.shape or before.dtype is not after.dtype):
        raise InputError(
            f"a parametrization must return shape {before.shape} and dtype {before.dtype.name}; "
            f"{after.shape} and {after.dtype.name} were returned. To allow this, use unsafe=True."
        )
