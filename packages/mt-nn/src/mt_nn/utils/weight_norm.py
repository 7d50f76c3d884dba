"""Weight normalization with the parameters' older names, as in `torch.nn.utils.weight_norm`.

`parametrizations.weight_norm` is the newer form. This one has the parameters `weight_g` and
`weight_v`, as in the state dictionaries of many published networks.
"""

from __future__ import annotations

from typing import TypeVar

from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.errors import SettingError
from mt_nn.utils.parametrizations import WeightNorm
from mt_nn.utils.parametrize import compute_attribute, parameter_of
from mt_tensor import Tensor, no_grad

__all__ = ["remove_weight_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Replace a weight by the parameters `weight_g`, its norms, and `weight_v`, its directions.

    The weight is computed on each access; see `parametrizations.weight_norm`.

    Args:
        module: the module with the weight, which is changed and returned.
        name: the name of the weight.
        dim: the dimension along which each slice has its own norm; None or -1 for a single norm.

    Raises:
        SettingError: the module has no such parameter.
    """
    weight = parameter_of(module, name)
    compute = WeightNorm(dim)
    with no_grad():
        parts = compute.right_inverse(weight.value.clone())
    delattr(module, name)
    for suffix, part in zip("gv", parts, strict=True):
        setattr(module, f"{name}_{suffix}", Parameter(part, weight.value.requires_grad))

    def computed(self: Module) -> Tensor:
        return compute.forward(getattr(self, f"{name}_g"), getattr(self, f"{name}_v"))

    compute_attribute(module, name, computed)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Turn the parameters of `weight_norm` back into a plain weight.

    Args:
        module: the module with the weight, which is changed and returned.
        name: the name of the weight.

    Raises:
        SettingError: the weight is not normalized.
    """
    if not module._parameters.keys() >= {f"{name}_g", f"{name}_v"}:
        raise SettingError(f"{type(module).__name__} has no weight_norm of {name!r}.")
    weight = Parameter(getattr(module, name).detach(), getattr(module, f"{name}_v").requires_grad)
    compute_attribute(module, name, None)
    delattr(module, f"{name}_g")
    delattr(module, f"{name}_v")
    setattr(module, name, weight)
    return module
