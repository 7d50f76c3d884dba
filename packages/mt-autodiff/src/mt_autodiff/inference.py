"""`inference_mode`, torch's other name for `no_grad`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff.core.mode import Switch, checked_mode


class inference_mode(Switch):  # noqa: N801 - torch's name
    """Disable recording in a block or function, as `no_grad` does; `mode=False` enables it.

    In torch the results can never be recorded later; here they are ordinary values.
    """

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        """Return a switch, or the decorated function if one is given."""
        return cls()(mode) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not checked_mode("inference_mode", mode))
