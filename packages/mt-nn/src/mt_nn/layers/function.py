"""Layers that compute a function of `mt_nn.functional` with settings that they keep."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from mt_nn.core.module import Module


class FunctionLayer(Module):
    """A function, with the settings that the layer was made with.

    A subclass names the function. The arguments of its constructor are settings of the function,
    and attributes of the layer under the same names.

    Attributes:
        function: what `forward` calls with its inputs and the settings.
        shown: the names of the settings that the layer's text shows.
    """

    function: ClassVar[Callable[..., Any]]
    shown: ClassVar[tuple[str, ...]] = ()
    _settings: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        """Read the names of the settings from the constructor."""
        super().__init_subclass__(**options)
        if "function" in vars(cls):
            cls._settings = tuple(inspect.signature(cls).parameters)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Return the function of these inputs; its docstring says what shapes they have."""
        settings = {name: getattr(self, name) for name in self._settings}
        return self.function(*inputs, **named, **settings)

    def extra_repr(self) -> str:
        """Show the settings in `shown`."""
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self.shown)
