"""`FunctionLayer`: layers that apply a function with stored settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from mt_nn.core.module import Module
from mt_nn.utils.declared import Declared


class FunctionLayer(Declared, Module):
    """Base class of layers that apply a function with the settings of the layer.

    A subclass names the function as a class argument, and declares its settings; see `Declared`.
    The settings become attributes of the layer; tensors become buffers, which are moved and saved
    with the layer.

        class ELU(FunctionLayer, function=elu):
            alpha: float = 1.0
            inplace: bool = False

    Attributes:
        function: the function, called with the inputs, and with the settings by name.
        shown: names of the settings that `extra_repr` returns; None for all.
    """

    function: ClassVar[Callable[..., Any]]
    shown: ClassVar[tuple[str, ...] | None] = None

    def __init_subclass__(cls, *, function: Callable[..., Any] | None = None) -> None:
        """Store the function of a subclass."""
        super().__init_subclass__()
        if function is not None:
            cls.function = staticmethod(function)

    def _keep(self, name: str, value: Any) -> None:
        if self._signature.parameters[name].annotation == "Tensor | None":
            self.register_buffer(name, value)
        else:
            setattr(self, name, value)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Apply `function` to the inputs."""
        settings = {name: getattr(self, name) for name in self._signature.parameters}
        return self.function(*inputs, **named, **settings)

    def extra_repr(self) -> str:
        """Return the settings in `shown`, except for those that are None or False."""
        names = self._signature.parameters if self.shown is None else self.shown
        values = {name: getattr(self, name) for name in names}
        given = {name: x for name, x in values.items() if x is not None and x is not False}
        return ", ".join(f"{name}={value!r}" for name, value in given.items())
