"""`Declared`: a base class of classes that declare the parameters of their constructor."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform()
class Declared:
    """Declare the parameters of the constructor like the fields of a dataclass.

    Annotated names are parameters, in the order of declaration, starting with base classes; those
    after `_: KW_ONLY` are keyword-only. `ClassVar`s are not parameters. `device` and `dtype` follow
    the other positional parameters, as in torch.

        class ELU(FunctionLayer, function=elu):
            alpha: float = 1.0
            inplace: bool = False
    """

    __signature__: ClassVar[inspect.Signature | None]
    _signature: ClassVar[inspect.Signature] = inspect.Signature()

    def __init_subclass__(cls, **options: Any) -> None:
        """Build the signature of the constructor from the declarations.

        Subclasses outside this package are ordinary classes: their annotations are not parameters.
        """
        super().__init_subclass__(**options)
        if cls.__module__.startswith("mt_nn."):
            cls._declare()
        cls.__signature__ = None if "__init__" in vars(cls) else cls._signature

    @classmethod
    def _declare(cls) -> None:
        parameters = dict(cls._signature.parameters)
        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        kind: Any = positional
        for name, annotation in inspect.get_annotations(cls).items():
            if annotation == "KW_ONLY":
                kind = inspect.Parameter.KEYWORD_ONLY
            elif not annotation.startswith("ClassVar"):
                if name in parameters and parameters[name].kind is not kind:
                    del parameters[name]  # it follows the others of its new kind
                default = vars(cls).get(name, inspect.Parameter.empty)
                parameters[name] = inspect.Parameter(
                    name, kind, default=default, annotation=annotation
                )
                if name in vars(cls):
                    delattr(cls, name)  # a class attribute would hide a buffer
        for name in ("device", "dtype"):
            if name in parameters:
                parameters[name] = parameters.pop(name).replace(kind=positional)
        cls._signature = inspect.Signature(sorted(parameters.values(), key=lambda p: p.kind))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        self._configure(given.arguments)

    def _configure(self, settings: dict[str, Any]) -> None:
        """Store the arguments, by default as attributes, and check them."""
        super().__init__()
        for name, value in settings.items():
            self._keep(name, value)
        self._check()

    def _keep(self, name: str, value: Any) -> None:
        """Store one argument."""
        setattr(self, name, value)

    def _check(self) -> None:
        """Check the arguments, and normalize the attributes."""
