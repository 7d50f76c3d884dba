"""Signatures of the reference, as a reader would write them."""

from __future__ import annotations

import builtins
import contextlib
import enum
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

_Parameter = inspect.Parameter


def signature_of(
    value: Any, *, bound: bool = False, linked: Callable[[str], str] | None = None
) -> str:
    """Return the parameters of a function or class; empty if it has none, or they are unknown.

    Args:
        value: the function or class.
        bound: whether to leave out the first parameter, the object of a method.
        linked: writes the names of types in an annotation so that Sphinx links them.
    """
    is_manager = _is_context_manager(value)

    def readable(annotation: Any) -> Any:
        text = getattr(annotation, "__forward_arg__", annotation)  # in a named tuple
        if not isinstance(text, str):
            return annotation
        text = text.replace("builtins.", "").replace("TensorT", "Tensor")
        if is_manager:
            text = text.replace("Iterator[", "AbstractContextManager[")
        return _Text(text if linked is None else linked(text))

    if getattr(value, "_is_protocol", False) or isinstance(value, enum.EnumType):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    if any(str(each.annotation).endswith(".args") for each in signature.parameters.values()):
        return "(...)"  # of a decorator that passes all arguments on
    parameters = [
        each.replace(annotation=readable(each.annotation), default=_readable_default(each.default))
        for parameter in signature.parameters.values()
        for each in _expanded(parameter, value)
    ]
    if bound:
        del parameters[:1]
    result = inspect.Signature.empty if inspect.isclass(value) else signature.return_annotation
    return str(signature.replace(parameters=parameters, return_annotation=readable(result)))


def _is_context_manager(value: Any) -> bool:
    """Return whether a function is decorated with `contextlib.contextmanager`."""
    while hasattr(value, "__wrapped__"):
        code = getattr(value, "__code__", None)
        if code is not None and code.co_filename == contextlib.__file__:
            return True
        value = value.__wrapped__
    return False


class _Text(str):
    """A text whose representation has no quotes."""

    __slots__ = ()
    __repr__ = str.__str__


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


_WORD = re.compile(r"""("[^"]*"|'[^']*')|(?<![\w.])([A-Za-z_]\w*(?:\.\w+)*)""")
"""A string, or a name, in an annotation."""


def link_types(text: str, value: Any, page_names: Callable[[str, Any], str]) -> str:
    """Return an annotation in which the types that have a page are written for Sphinx, `~a.B`.

    Args:
        text: the annotation.
        value: the function or class that has it, in whose module it is evaluated.
        page_names: returns the qualified name of a type that has a page, given the name in the
            annotation and its value, or None if that is unknown; else an empty string.
    """
    module = sys.modules.get(getattr(value, "__module__", ""))
    scope = getattr(inspect.unwrap(value), "__globals__", vars(module) if module else {})

    def link(found: re.Match[str]) -> str:
        string, name = found.groups()
        if string:
            return string
        first, *rest = name.split(".")
        kind = scope.get(first, getattr(builtins, first, None))
        for part in rest:
            kind = getattr(kind, part, None)
        page = page_names(name, kind)
        return f"~{page}" if page else name

    return _WORD.sub(link, text)


def width_of(signature: str) -> int:
    """Return the length of a signature as readers see it."""
    return len(re.sub(r"~[\w.]+\.(\w+)", r"\1", signature))


def unlink_types(_: Sphinx, doctree: nodes.document) -> None:
    """Remove the links that Sphinx makes of types without a page of their own.

    Sphinx would look for anything of the same name: a dtype `int`, a class of another package.
    """
    for signature in doctree.findall(addnodes.desc_signature):
        for link in list(signature.findall(addnodes.pending_xref)):
            if not link["reftarget"].startswith("mt_"):
                link.replace_self(link.children)
