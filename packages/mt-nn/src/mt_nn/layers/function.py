"""Layers that compute a function with settings that they keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from mt_nn.core.module import Module
from mt_nn.utils.declared import Declared


class FunctionLayer(Declared, Module):
    """A function, with the settings that the layer was made with.

    A subclass names the function, and declares settings of it; see `Declared`. They are attributes
    of the layer. A tensor among them becomes a buffer, which moves and is saved with the layer.

    Attributes:
        function: what `forward` calls with its inputs and the settings.
        shown: the names of the settings that the layer's text shows.
    """

    function: ClassVar[Callable[..., Any]]
    shown: ClassVar[tuple[str, ...]] = ()

    def _keep(self, name: str, value: Any) -> None:
        if self._signature.parameters[name].annotation == "Tensor | None":
            self.register_buffer(name, value)
        else:
            setattr(self, name, value)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Return the function of these inputs; its docstring says what shapes they have."""
        settings = {name: getattr(self, name) for name in self._signature.parameters}
        return self.function(*inputs, **named, **settings)

    def extra_repr(self) -> str:
        """Show the settings in `shown`."""
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self.shown)
