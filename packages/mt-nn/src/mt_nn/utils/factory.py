"""`DeclaredLayer`: a base class of layers with parameters, which take `device` and `dtype`."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from mt_nn.core.module import Module
from mt_nn.utils.declared import Declared


class DeclaredLayer(Declared, Module):
    """Base class of layers that declare their settings, followed by `device` and `dtype`.

    The layer is created on the current backend, and then moved and converted. A layer that draws
    its random values with this dtype uses `self.dtype`, which exists only until then.
    """

    _: KW_ONLY
    device: Any = None
    dtype: Any = None

    def _configure(self, settings: dict[str, Any]) -> None:
        super()._configure(settings)
        device, dtype = vars(self).pop("device"), vars(self).pop("dtype")
        if device is not None or dtype is not None:
            self.to(device=device, dtype=dtype)
