"""torch's factory arguments of layers, `device` and `dtype`, after the settings of the layer."""

from __future__ import annotations

import functools
import inspect
from typing import Any, TypeVar

from mt_nn.core.module import Module

M = TypeVar("M", bound=type[Module])


def takes_device_and_dtype(layer: M) -> M:
    """Decorate a layer so that its constructor takes `device` and `dtype`, by keyword or position.

    The layer is created on the current backend, and moved to the device.
    """
    initialize: Any = layer.__init__
    own = inspect.signature(layer).parameters
    settings = [one for name, one in own.items() if name not in ("device", "dtype")]
    by_position = [one for one in settings if one.kind is one.POSITIONAL_OR_KEYWORD]
    added = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        for name in ("device", "dtype")
    ]
    others = [one for one in settings if one not in by_position]
    signature = inspect.Signature([*by_position, *added, *others])

    @functools.wraps(initialize)
    def __init__(self: Module, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(by_position):  # to raise Python's errors, let Python bind them
            kwargs = dict(signature.bind(*args, **kwargs).arguments)
            args = ()
        factory = {name: kwargs.pop(name) for name in ("device", "dtype") if name in kwargs}
        if "dtype" in own and "dtype" in factory:  # random values are drawn in the dtype
            kwargs["dtype"] = factory["dtype"]
        initialize(self, *args, **kwargs)
        if factory.get("device") is not None or factory.get("dtype") is not None:
            self.to(**factory)

    changed: Any = layer
    changed.__init__ = __init__
    changed.__signature__ = signature
    return layer
