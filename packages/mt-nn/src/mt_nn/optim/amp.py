"""`GradScaler`: losses scaled up, so that small gradients are no zeros in float16.

Numbers below 6e-8 are zero in float16, and many gradients are smaller. A loss that is multiplied by
a large factor has gradients that are larger by the same factor; before the optimizer moves anything
they are divided by it again, in float32. Where one of them is infinite or nan, the factor was too
large: that step is left out and the factor is halved. After many steps without one it is doubled
(Micikevicius and others, Mixed precision training, 2018). bfloat16 has the range of float32 and
needs none of this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.settings import integer
from mt_nn.errors import NetworkError, SettingError
from mt_tensor import Tensor, float16

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"
"""What has been done with an optimizer since the last update."""

_STATE = {
    "scale": "_scale",
    "growth_factor": "_growth_factor",
    "backoff_factor": "_backoff_factor",
    "growth_interval": "_growth_interval",
    "_growth_tracker": "_growth_tracker",
}
"""torch's names of what is saved, and the attributes that hold it."""


class GradScaler:
    """Scales losses, and keeps optimizers from steps with infinite gradients; torch's.

        scaler = GradScaler()
        with autocast("cuda"):
            loss = criterion(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    Between the second line from below and the one before, `scaler.unscale_(optimizer)` makes the
    gradients what they are, so that they can be clipped.

    Args:
        device: "cuda" or "cpu"; torch's, and means nothing here.
        init_scale: the factor at first.
        growth_factor: what it is multiplied by after `growth_interval` steps without an infinity.
        backoff_factor: what it is multiplied by after one.
        growth_interval: how many steps.
        enabled: whether anything is done at all; if not, `scale` returns losses as they are, and
            `step` only steps.

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
        if not (init_scale > 0 and growth_factor > 1 and 0 < backoff_factor < 1):
            raise SettingError(
                "the scale is positive, it grows by a factor above 1, and backs off by one between "
                f"0 and 1; {init_scale}, {growth_factor} and {backoff_factor} were given."
            )
        self._scale = float(init_scale)
        self._growth_factor = float(growth_factor)
        self._backoff_factor = float(backoff_factor)
        self._growth_interval = integer("growth_interval", growth_interval, least=1)
        self._growth_tracker = 0
        self._stages: dict[int, str] = {}
        self._infinite: dict[int, bool] = {}

    def is_enabled(self) -> bool:
        """Return whether anything is done."""
        return self._enabled

    def get_scale(self) -> float:
        """Return the factor; 1 if nothing is done."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs: Any) -> Any:
        """Return a tensor times the factor, or such a list or tuple of several.

        Raises:
            SettingError: it is neither.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            # Of float16, the product with the factor would often be infinite.
            return (outputs.float() if outputs.dtype.is_narrow else outputs) * self._scale
        if isinstance(outputs, Iterable) and not isinstance(outputs, str):
            scaled = [self.scale(each) for each in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else iter(scaled)
        raise SettingError(f"scale() takes tensors, or lists or tuples of them; got {outputs!r}.")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the factor, and look for infinities.

        Raises:
            NetworkError: that has been done since the last update, or the step has been taken.
            SettingError: parameters are of float16, in which gradients would become zeros.
        """
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), READY)
        if stage != READY:
            raise NetworkError(
                "unscale_() was called for an optimizer that has "
                f"{'had it' if stage == UNSCALED else 'taken its step'} since the last update()."
            )
        parameters = (each for group in optimizer.param_groups for each in group["params"])
        gradients = [each.grad for each in parameters if each.grad is not None]
        if any(grad.dtype is float16 for grad in gradients):
            raise SettingError(
                "gradients of float16 cannot be unscaled, for small ones would become zeros: keep "
                "parameters in float32, and use autocast()."
            )
        infinite = False
        for grad in gradients:
            grad.detach().mul_(1.0 / self._scale)
            infinite |= not bool(grad.detach().isfinite().all())
        self._infinite[id(optimizer)] = infinite
        self._stages[id(optimizer)] = UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Take the optimizer's step, unless a gradient is infinite or nan.

        Gradients are unscaled before, if they have not been.

        Args:
            optimizer: the optimizer.
            *args: what its `step` takes; no closure.
            **kwargs: the same by name.

        Returns:
            What its `step` returns; None if it is left out.

        Raises:
            NetworkError: the step has been taken since the last update, or no parameter has a
                gradient.
            SettingError: a closure is given, or parameters are of float16.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs or any(callable(each) for each in args):
            raise SettingError("step() takes no closure: compute the loss and gradients before it.")
        stage = self._stages.get(id(optimizer), READY)
        if stage == STEPPED:
            raise NetworkError("step() was called twice for an optimizer since the last update().")
        if stage == READY:
            self.unscale_(optimizer)
        self._stages[id(optimizer)] = STEPPED
        return None if self._infinite[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Change the factor by what the steps since the last update have met.

        Args:
            new_scale: a factor instead.

        Raises:
            NetworkError: there was none.
            SettingError: the factor is not positive.
        """
        if not self._enabled:
            return
        if new_scale is not None:
            number = float(new_scale)
            if not number > 0:
                raise SettingError(f"the scale is positive; {number} was given.")
            self._scale = number
        elif not self._infinite:
            raise NetworkError("update() comes after step() or unscale_() of an optimizer.")
        elif any(self._infinite.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._stages.clear()
        self._infinite.clear()

    def get_growth_factor(self) -> float:
        """Return what the factor is multiplied by when it grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set it."""
        self._growth_factor = float(new_factor)

    def get_backoff_factor(self) -> float:
        """Return what the factor is multiplied by after an infinity."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set it."""
        self._backoff_factor = float(new_factor)

    def get_growth_interval(self) -> int:
        """Return after how many steps without an infinity the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set it."""
        self._growth_interval = integer("growth_interval", new_interval, least=1)

    def state_dict(self) -> dict[str, Any]:
        """Return the factor and what it becomes, for `load_state_dict`; torch's names."""
        if not self._enabled:
            return {}
        return {key: getattr(self, name) for key, name in _STATE.items()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on as the scaler of which this is the state.

        Raises:
            SettingError: it is that of one that does nothing.
        """
        if not self._enabled:
            return
        missing = self.state_dict().keys() - state_dict.keys()
        if missing:
            raise SettingError(
                f"the state of a scaler lacks {', '.join(sorted(missing))}; it may be that of one "
                "which was made with enabled=False."
            )
        for key, name in _STATE.items():
            setattr(self, name, type(getattr(self, name))(state_dict[key]))
