"""A function of `mt_nn.functional` as a layer.

Many layers do nothing but keep settings: what they compute is a function of their inputs and these.
This file says once how; layers of pooling, below, and the losses and activations of the library
only name their function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from mt_nn.core.module import Module


class FunctionLayer(Module):
    """A function, with the settings that the layer was made with.

    A subclass names the function. The arguments of its constructor are settings of the function,
    and attributes of the layer under the same names.
    """

    function: ClassVar[Callable[..., Any]]
    _settings: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        """Remember what the settings of a function are called."""
        super().__init_subclass__(**options)
        if "function" in vars(cls):
            cls._settings = tuple(inspect.signature(cls).parameters)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Return what the function makes of these inputs; it says what shapes they have."""
        settings = {name: getattr(self, name) for name in self._settings}
        return self.function(*inputs, **named, **settings)
