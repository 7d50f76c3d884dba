"""Rprop: steps that follow the signs of gradients alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Optimizer, settings_among
from mt_nn.errors import SettingError
from mt_nn.optim.checks import is_pair
from mt_tensor import Tensor, full_like, fuse_in_place, maximum, minimum, where, zeros_like


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993), for gradients of all the data.

    Each element has a step size, which grows by the second of `etas` while its gradient keeps its
    sign, and shrinks by the first when it has changed; the element then stays for a step. It moves
    by that size, against the sign of its gradient.

    Args:
        params: parameters or groups.
        lr: the first step size, not negative.
        etas: by what step sizes shrink, between 0 and 1, and grow, above 1.
        step_sizes: the smallest and the largest.
        capturable, differentiable: must be False.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
    """

    kinds: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError for invalid settings."""
        etas, sizes = settings["etas"], settings["step_sizes"]
        if not is_pair(etas) or not 0 < etas[0] < 1 < etas[1]:
            raise SettingError(f"etas must be one between 0 and 1, and one above 1; got {etas!r}.")
        if not is_pair(sizes):
            raise SettingError(f"step_sizes must be two numbers; got {sizes!r}.")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, the gradient before, and the step sizes."""
        sizes = full_like(parameter.detach(), float(group["lr"]))
        return {"step": 0, "prev": zeros_like(parameter), "step_size": sizes}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        numbers = *group["etas"], *group["step_sizes"]
        rprop_step(parameter, grad, state["prev"], state["step_size"], *numbers)


@fuse_in_place("x", "before", "size")
def rprop_step(
    x: Tensor,
    grad: Tensor,
    before: Tensor,
    size: Tensor,
    shrink: Tensor,
    grow: Tensor,
    smallest: Tensor,
    largest: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the parameter, the gradient before and the step sizes after a step; see `Rprop`."""
    kept = grad * before
    shrinking: Any = where(kept < 0, shrink, kept + 1)  # 1 for 0, nan for nan
    factor: Any = where(kept > 0, grow, shrinking)
    size = minimum(maximum(size * factor, smallest), largest)
    slope: Any = where(kept < 0, 0.0, grad)
    return x - slope.sign() * size, slope, size
