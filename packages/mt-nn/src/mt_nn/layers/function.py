"""Layers that compute a function with settings that they keep."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, dataclass_transform

from mt_nn.core.module import Module


@dataclass_transform()
class FunctionLayer(Module):
    """A function, with the settings that the layer was made with.

    A subclass names the function, and declares settings of it like a dataclass: an annotated name
    is an argument of the constructor and an attribute of the layer; those below `_: KW_ONLY` are
    passed by name. A tensor among the settings becomes a buffer, which moves and is saved with the
    layer.

        class ELU(FunctionLayer):
            function = staticmethod(elu)
            alpha: float = 1.0
            inplace: bool = False

    Attributes:
        function: what `forward` calls with its inputs and the settings.
        shown: the names of the settings that the layer's text shows.
    """

    function: ClassVar[Callable[..., Any]]
    shown: ClassVar[tuple[str, ...]] = ()
    __signature__: ClassVar[inspect.Signature | None]
    _signature: ClassVar[inspect.Signature] = inspect.Signature()

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the constructor's signature of the settings declared here and in base classes."""
        super().__init_subclass__(**options)
        parameters = dict(cls._signature.parameters)
        kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
        for name, annotation in inspect.get_annotations(cls).items():
            if annotation == "KW_ONLY":
                kind = inspect.Parameter.KEYWORD_ONLY
            elif not annotation.startswith("ClassVar"):
                default = vars(cls).get(name, inspect.Parameter.empty)
                parameters[name] = inspect.Parameter(
                    name, kind, default=default, annotation=annotation
                )
                if name in vars(cls):
                    delattr(cls, name)  # an attribute of the class would hide a buffer
        cls._signature = inspect.Signature(sorted(parameters.values(), key=lambda p: p.kind))
        cls.__signature__ = None if "__init__" in vars(cls) else cls._signature

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        for name, value in given.arguments.items():
            if self._signature.parameters[name].annotation == "Tensor | None":
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)
        self._check()

    def _check(self) -> None:
        """Check the settings, and bring them into the form that the layer keeps."""

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Return the function of these inputs; its docstring says what shapes they have."""
        settings = {name: getattr(self, name) for name in self._signature.parameters}
        return self.function(*inputs, **named, **settings)

    def extra_repr(self) -> str:
        """Show the settings in `shown`."""
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self.shown)
