"""`GradScaler`: loss scaling, which keeps small float16 gradients from becoming zero.

Numbers below 3e-8 are rounded to zero in float16, and many gradients are smaller. Scaling the loss
by a large factor scales its gradients; before the optimizer's step they are divided by the factor
again, in float32. If a gradient is infinite or nan, the factor was too large: the step is skipped
and the factor halved. After many steps without an overflow it is doubled (Micikevicius et al. 2018,
"Mixed Precision Training"). bfloat16 has the range of float32 and does not need loss scaling.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.settings import integer
from mt_nn.errors import NetworkError, SettingError
from mt_nn.utils.settings import check
from mt_tensor import Tensor, float16

_KEYS = ("scale", "growth_factor", "backoff_factor", "growth_interval")
_STATE = {**{key: f"_{key}" for key in _KEYS}, "_growth_tracker": "_growth_tracker"}
"""torch's keys of the state, and the attributes with the values."""


class GradScaler:
    """Scale losses, and skip optimizer steps whose gradients are not finite, as in torch.

        scaler = GradScaler()
        with autocast("cuda"):
            loss = criterion(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    To clip gradients, call `scaler.unscale_(optimizer)` before `scaler.step(optimizer)`.

    Args:
        device: accepted for compatibility with torch, without effect.
        init_scale: the initial scale factor.
        growth_factor: multiplies the scale after `growth_interval` updates without an overflow.
        backoff_factor: multiplies the scale after an overflow.
        growth_interval: the number of updates between increases.
        enabled: if False, `scale` returns losses unchanged, and `step` only calls the optimizer.

    Raises:
        SettingError: a factor is invalid.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = bool(enabled)
        check("init_scale", init_scale, init_scale > 0, "positive")
        self._scale = float(init_scale)
        self.set_growth_factor(growth_factor)
        self.set_backoff_factor(backoff_factor)
        self.set_growth_interval(growth_interval)
        self._growth_tracker = 0
        # By the ids of optimizers, since the last update:
        self._overflowed: dict[int, bool] = {}  # whether a gradient was not finite, once unscaled
        self._stepped: set[int] = set()

    def is_enabled(self) -> bool:
        """Return whether losses are scaled."""
        return self._enabled

    def get_scale(self) -> float:
        """Return the scale factor; 1 if disabled."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or each tensor of a list, tuple or iterator, by the scale factor.

        Raises:
            SettingError: `outputs` is neither a tensor nor an iterable of tensors.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            # In float16, the product with the factor would often overflow.
            return (outputs.float() if outputs.dtype.is_narrow else outputs) * self._scale
        if isinstance(outputs, Iterable) and not isinstance(outputs, str):
            scaled = [self.scale(each) for each in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else iter(scaled)
        raise SettingError(f"scale() takes tensors, or lists or tuples of them; got {outputs!r}.")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the factor; check for overflow.

        Raises:
            NetworkError: `unscale_` or `step` was called for the optimizer since the last update.
            SettingError: parameters have dtype float16, in which small gradients become zero.
        """
        if not self._enabled:
            return
        key = id(optimizer)
        if key in self._overflowed:
            when = "after step()" if key in self._stepped else "twice"
            raise NetworkError(
                f"unscale_() was called {when} for an optimizer since the last update(). Call it "
                "once per optimizer and update(), before step()."
            )
        parameters = (each for group in optimizer.param_groups for each in group["params"])
        gradients = [each.grad for each in parameters if each.grad is not None]
        if any(grad.dtype is float16 for grad in gradients):
            raise SettingError(
                "float16 gradients cannot be unscaled: small ones would become zero. Keep "
                "parameters in float32 and use autocast()."
            )
        overflowed = False
        for grad in gradients:
            grad.detach().mul_(1.0 / self._scale)
            overflowed |= not bool(grad.detach().isfinite().all())
        self._overflowed[key] = overflowed

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the optimizer's step unless a gradient is infinite or nan.

        Unscale the gradients first, unless `unscale_` was called.

        Args:
            optimizer: the optimizer.
            *args: positional arguments of its `step`; no closure.
            **kwargs: keyword arguments of its `step`.

        Returns:
            The result of the optimizer's `step`; None if the step is skipped.

        Raises:
            NetworkError: `step` was called for the optimizer since the last update.
            SettingError: a closure is given, or parameters have dtype float16.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs or any(callable(each) for each in args):
            raise SettingError("step() takes no closure: compute the loss and gradients before it.")
        key = id(optimizer)
        if key in self._stepped:
            raise NetworkError(
                "step() was called twice for an optimizer since the last update(). Call update() "
                "after the steps of all optimizers."
            )
        if key not in self._overflowed:
            self.unscale_(optimizer)
        self._stepped.add(key)
        return None if self._overflowed[key] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Reduce the factor if a gradient overflowed since the last update; otherwise let it grow.

        Args:
            new_scale: if not None, set the factor to this value instead.

        Raises:
            NetworkError: `step` or `unscale_` was not called since the last update.
            SettingError: `new_scale` is not positive.
        """
        if not self._enabled:
            return
        if new_scale is not None:
            number = float(new_scale)
            check("new_scale", number, number > 0, "positive")
            self._scale = number
        elif not self._overflowed:
            raise NetworkError("update() must be called after step() or unscale_().")
        elif any(self._overflowed.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._stepped.clear()
        self._overflowed.clear()

    def get_growth_factor(self) -> float:
        """Return the growth factor."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the growth factor.

        Raises:
            SettingError: it is not greater than 1.
        """
        check("growth_factor", new_factor, new_factor > 1, "greater than 1")
        self._growth_factor = float(new_factor)

    def get_backoff_factor(self) -> float:
        """Return the backoff factor."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the backoff factor.

        Raises:
            SettingError: it is not between 0 and 1.
        """
        check("backoff_factor", new_factor, 0 < new_factor < 1, "between 0 and 1")
        self._backoff_factor = float(new_factor)

    def get_growth_interval(self) -> int:
        """Return the number of updates between increases of the factor."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of updates between increases of the factor.

        Raises:
            SettingError: it is not a positive integer.
        """
        self._growth_interval = integer("growth_interval", new_interval, least=1)

    def state_dict(self) -> dict[str, Any]:
        """Return the state, under torch's keys; empty if disabled."""
        if not self._enabled:
            return {}
        return {key: getattr(self, name) for key, name in _STATE.items()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of another scaler; do nothing if disabled.

        Raises:
            SettingError: `state_dict` lacks keys; the state of a disabled scaler is empty.
        """
        if not self._enabled:
            return
        missing = _STATE.keys() - state_dict.keys()
        if missing:
            raise SettingError(
                f"the state of a GradScaler lacks {', '.join(sorted(missing))}; it may be from one "
                "with enabled=False."
            )
        for key, name in _STATE.items():
            setattr(self, name, type(getattr(self, name))(state_dict[key]))
