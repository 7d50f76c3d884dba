"""The methods of `Tensor` as declarations, read from the class as a program has it.

Operations are functions in files by subject, which become methods when these are imported, so that
no type checker sees them in the class. Here each is written down with its signature and the first
line of its documentation, in the base class that `Tensor` has for type checkers alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

from mt.declare.names import Names
from mt.source.modules import Library, defined

CLASS = ("mt_tensor.tensor", "Tensor")
"""The class, and the module whose source says which of its members need no declaration."""

HEAD = '"""The methods of `Tensor`, for type checkers; `mt declare` writes this file."""'

PREFIXES: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}

AUGMENTED = "add sub mul truediv floordiv mod pow and or xor lshift rshift"
"""Python's operators that may change their left side, without underscores."""

IN_PLACE = {f"__i{name}__" for name in AUGMENTED.split()}

UNLIKE_OBJECT = {"__eq__", "__ne__"}
"""Methods that return a tensor, where those of other objects return a bool."""


def declarations(library: Library) -> str:
    """Return the text of the stub, whose class `Methods` declares what was attached to `Tensor`."""
    import mt_tensor

    methods = dict(sorted(_attached(mt_tensor.Tensor, library)))
    names = Names(library, methods)
    body = [line for name, method in methods.items() for line in _declared(name, method, names)]
    return "\n".join([HEAD, "", *names.imports(), "", "class Methods:", *body]) + "\n"


def _attached(cls: type, library: Library) -> Iterator[tuple[str, Any]]:
    """Yield the methods and properties of a class that its own source does not define."""
    module, name = CLASS
    source: Any = library.module(module)
    own = {each for statement in source.names[name].body for each in defined(statement)}
    for attribute, value in vars(cls).items():
        if attribute not in own and isinstance(value, (FunctionType, property)):
            yield attribute, value


def _declared(name: str, method: Any, names: Names) -> Iterator[str]:
    """Yield the lines that declare a method, or a property and how it is set."""
    if isinstance(method, property):
        yield "    @property"
        yield from _declared(name, method.fget, names)
        if method.fset is not None:
            yield f"    @{name}.setter"
            yield f"    def {name}{_signature(name, method.fset, names)}: ..."
        return
    ignored = "  # type: ignore[override]" if name in UNLIKE_OBJECT else ""
    yield f"    def {name}{_signature(name, method, names)}:{ignored}"
    text = (method.__doc__ or "").partition("\n")[0]
    yield f'        """{text}"""' if text else "        ..."


def _signature(name: str, method: Callable[..., Any], names: Names) -> str:
    """Return the arguments of a method, and what it returns."""
    function: Any = inspect.unwrap(_with_arguments(name, method, names.methods))
    signature = inspect.signature(function)
    (tensor, *others), parameters, after_star = signature.parameters.values(), ["self"], False
    for parameter in others:
        if parameter.kind is parameter.KEYWORD_ONLY and not after_star:
            parameters.append("*")
        after_star = after_star or parameter.kind in (
            parameter.KEYWORD_ONLY,
            parameter.VAR_POSITIONAL,
        )
        kind = names.shown(parameter.annotation, function)
        default = "" if parameter.default is parameter.empty else " = ..."
        parameters.append(f"{PREFIXES.get(parameter.kind, '')}{parameter.name}: {kind}{default}")
    changes = name in IN_PLACE or (name.endswith("_") and not name.startswith("_"))
    same_class = tensor.annotation == signature.return_annotation != "Tensor"
    returned = "Self" if changes or same_class else signature.return_annotation
    returned = names.shown(returned, function)
    return f"({', '.join(parameters)}) -> {returned}"


def _with_arguments(
    name: str, method: Callable[..., Any], methods: Mapping[str, Any]
) -> Callable[..., Any]:
    """Return a method, or of an in-place form that passes all arguments on, the operation."""
    kinds = [parameter.kind for parameter in inspect.signature(method).parameters.values()]
    passes_on = inspect.Parameter.VAR_KEYWORD in kinds and name.endswith("_")
    operation: Callable[..., Any] = methods.get(name[:-1], method) if passes_on else method
    return operation
