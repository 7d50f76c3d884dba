"""Signatures of the reference, as a reader would write them."""

from __future__ import annotations

import builtins
import enum
import inspect
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

_Parameter = inspect.Parameter


def signature_of(value: Any, *, bound: bool = False) -> str:
    """Return the parameters of a function or class; empty if it has none, or they are unknown.

    Args:
        value: the function or class.
        bound: whether to leave out the first parameter, the object of a method.
    """
    if getattr(value, "_is_protocol", False) or isinstance(value, enum.EnumType):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    if any(str(each.annotation).endswith(".args") for each in signature.parameters.values()):
        return "(...)"  # of a decorator that passes all arguments on
    parameters = [
        each.replace(annotation=_readable(each.annotation), default=_readable_default(each.default))
        for parameter in signature.parameters.values()
        for each in _expanded(parameter, value)
    ]
    if bound:
        del parameters[:1]
    result = inspect.Signature.empty if inspect.isclass(value) else signature.return_annotation
    return str(signature.replace(parameters=parameters, return_annotation=_readable(result)))


class _Text(str):
    """A text whose representation has no quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _readable(annotation: Any) -> Any:
    """Return an annotation as it was written."""
    text = getattr(annotation, "__forward_arg__", annotation)  # in a named tuple
    return _Text(text.replace("builtins.", "")) if isinstance(text, str) else annotation


def _readable_default(default: Any) -> Any:
    """Return the representation of a default value: for a function or class its name."""
    if default is _Parameter.empty or not repr(default).startswith("<"):
        return default
    name = getattr(default, "__name__", "...")
    return _Text("..." if name == "<lambda>" else name)


def options_of(value: Any) -> Any:
    """Return the typed dictionary whose keys are keyword arguments of a function, or None."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    found = (_options(parameter, value) for parameter in parameters)
    return next((each for each in found if each is not None), None)


def _options(parameter: inspect.Parameter, function: Any) -> Any:
    """Return the typed dictionary X of a parameter `**options: Unpack[X]`, or None."""
    text = str(parameter.annotation)
    if parameter.kind is not _Parameter.VAR_KEYWORD or not text.startswith("Unpack["):
        return None
    names = getattr(inspect.unwrap(function), "__globals__", {})
    return names.get(text.removeprefix("Unpack[").removesuffix("]"))


def _expanded(parameter: inspect.Parameter, function: Any) -> Iterator[inspect.Parameter]:
    """Yield a parameter; in place of `**options: Unpack[X]`, one for each key of X."""
    options = _options(parameter, function)
    if options is None:
        yield parameter
        return
    for name, annotation in reversed(options.__annotations__.items()):  # its own keys first
        yield _Parameter(name, _Parameter.KEYWORD_ONLY, default=_Text("..."), annotation=annotation)


_TYPE_NAMES = {name for name, value in vars(builtins).items() if isinstance(value, type)}
_UNLINKED = _TYPE_NAMES | {"Function", "T"}
"""Builtin types and type variables, which the reference has other things of the same name for."""


def unlink_types(_: Sphinx, doctree: nodes.document) -> None:
    """Remove links from the types in signatures that are not those of the reference."""
    for signature in doctree.findall(addnodes.desc_signature):
        for link in list(signature.findall(addnodes.pending_xref)):
            if link["reftarget"] in _UNLINKED:
                link.replace_self(link.children)
