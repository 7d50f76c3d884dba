"""Spectral normalization with the parameters' older names, as in `torch.nn.utils.spectral_norm`.

`parametrizations.spectral_norm` is the newer form. This one has the parameter `weight_orig` and the
buffers `weight_u` and `weight_v`, as in the state dictionaries of many published networks.
"""

from __future__ import annotations

from typing import Any, TypeVar

from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.hooks.modules import ModuleHooks
from mt_nn.utils.parametrizations import SpectralRows
from mt_nn.utils.parametrize import compute_attribute, parameter_of
from mt_tensor import Tensor, no_grad

__all__ = ["remove_spectral_norm", "spectral_norm"]

M = TypeVar("M", bound=Module)


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight, as a matrix, by its largest singular value before each `forward`.

    The weight is computed from the parameter `weight_orig` on each access; before the first call of
    the module, it shares the memory of this parameter. The singular value is estimated by power
    iteration, which continues with each call in training mode; see
    `parametrizations.spectral_norm`.

    Args:
        module: the module with the weight, which is changed and returned.
        name: the name of the weight.
        n_power_iterations: the number of iterations per call.
        eps: the smallest norm to divide by.
        dim: the dimension of the weight that becomes the rows; None for that of the outputs.

    Raises:
        SettingError: the module has no such parameter, or a setting is invalid.
    """
    if any(hook.name == name for hook in _hooks(module)):
        raise SettingError(f"{type(module).__name__} already has a spectral_norm of {name!r}.")
    weight = parameter_of(module, name)
    rows = SpectralRows(module, weight, dim, eps)
    hook = _PowerIteration(name, integer("n_power_iterations", n_power_iterations, 1), rows)
    vectors = rows.initial(rows.matrix(weight.detach()))
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    for suffix, vector in zip("uv", vectors, strict=True):
        module.register_buffer(f"{name}_{suffix}", vector)
    ModuleHooks.of(module).register("before forward", hook)
    compute_attribute(module, name, lambda self: _hook_of(self, name).weight(self))
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Turn the parameter and buffers of `spectral_norm` back into a plain weight.

    Args:
        module: the module with the weight, which is changed and returned.
        name: the name of the weight.

    Raises:
        SettingError: the weight is not normalized.
    """
    hook = _hook_of(module, name)
    requires_grad = getattr(module, f"{name}_orig").requires_grad
    with no_grad():
        weight = Parameter(hook.computed(module), requires_grad)
    ModuleHooks.of(module).remove("before forward", hook)
    compute_attribute(module, name, None)
    for suffix in ("orig", "u", "v"):
        delattr(module, f"{name}_{suffix}")
    setattr(module, name, weight)
    return module


class _PowerIteration:
    """The hook that computes a weight before `forward`, in the form that `ModuleHooks` calls."""

    def __init__(self, name: str, n_power_iterations: int, rows: SpectralRows) -> None:
        self.name, self.rows = name, rows
        self.n_power_iterations = n_power_iterations
        self.was_called = False

    def __call__(self, module: Module, args: Any, kwargs: Any) -> Any:
        if module.training:
            matrix = self.rows.matrix(getattr(module, f"{self.name}_orig").detach())
            u, v = (getattr(module, f"{self.name}_{suffix}") for suffix in "uv")
            for _ in range(self.n_power_iterations):
                v = self.rows.next(matrix.T, u)
                u = self.rows.next(matrix, v)
            setattr(module, f"{self.name}_u", u)
            setattr(module, f"{self.name}_v", v)
        self.was_called = True
        return args, kwargs

    def weight(self, module: Module) -> Tensor:
        """Return the weight; before the first call, it is the parameter."""
        if self.was_called:
            return self.computed(module)
        original: Tensor = getattr(module, f"{self.name}_orig")
        return original.detach()

    def computed(self, module: Module) -> Tensor:
        """Return the weight divided by its singular value, as it is estimated now."""
        weight, u, v = (getattr(module, f"{self.name}_{suffix}") for suffix in ("orig", "u", "v"))
        return self.rows.divided(weight, u, v)


def _hooks(module: Module) -> list[_PowerIteration]:
    hooks = () if module._hooks is None else module._hooks.at("before forward")
    return [hook for hook in hooks if isinstance(hook, _PowerIteration)]


def _hook_of(module: Module, name: str) -> _PowerIteration:
    """Return the hook of a weight.

    Raises:
        SettingError: the weight is not normalized.
    """
    for hook in _hooks(module):
        if hook.name == name:
            return hook
    raise SettingError(f"{type(module).__name__} has no spectral_norm of {name!r}.")
