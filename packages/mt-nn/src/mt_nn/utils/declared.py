"""`Declared`: a base of classes that declare the arguments of their constructor."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform()
class Declared:
    """Declare the arguments of the constructor like the fields of a dataclass.

    In a subclass an annotated name is an argument, in the order in which base classes and the class
    declare them; those below `_: KW_ONLY` are passed by name. `ClassVar`s are no arguments.

        class ELU(FunctionLayer):
            function = staticmethod(elu)
            alpha: float = 1.0
            inplace: bool = False
    """

    __signature__: ClassVar[inspect.Signature | None]
    _signature: ClassVar[inspect.Signature] = inspect.Signature()

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the constructor's signature of what is declared here and in base classes.

        A subclass of a user's is a usual class: what it annotates are no arguments.
        """
        super().__init_subclass__(**options)
        if cls.__module__.startswith("mt_nn."):
            cls._declare()
        cls.__signature__ = None if "__init__" in vars(cls) else cls._signature

    @classmethod
    def _declare(cls) -> None:
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        self._configure(given.arguments)

    def _configure(self, settings: dict[str, Any]) -> None:
        """Keep the arguments, by default as attributes, and check them."""
        super().__init__()
        for name, value in settings.items():
            self._keep(name, value)
        self._check()

    def _keep(self, name: str, value: Any) -> None:
        """Keep one argument."""
        setattr(self, name, value)

    def _check(self) -> None:
        """Check the arguments, and bring them into the form in which they are kept."""
