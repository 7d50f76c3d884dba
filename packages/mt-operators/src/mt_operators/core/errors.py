"""The errors of stage 0, and suggestions of similar names, which all stages use.

Each error also derives from a builtin exception, so that `except KeyError` and
`except ValueError` work as expected.
"""

from __future__ import annotations

from collections.abc import Iterable


class OperatorError(ValueError):
    """Base class of errors about operators."""


class UnknownOperatorError(OperatorError, KeyError):
    """No operator has the given name."""

    __str__ = Exception.__str__  # KeyError would quote the message


class OperatorExistsError(OperatorError):
    """The name of a new operator is already in use."""


class TracingError(OperatorError, TypeError):
    """A function cannot be traced, for example because it branches on a value."""


class ModuleError(RuntimeError, ValueError):
    """Base class of errors about modules, for most of which torch raises one of its two bases."""


class MemberError(ModuleError, TypeError):
    """A value cannot be a member of a module."""


class MemberNameError(ModuleError, KeyError):
    """Invalid name for a submodule, parameter or buffer."""

    __str__ = Exception.__str__


class StateDictError(ModuleError):
    """A state dictionary does not match the module that loads it."""


def nearest(name: object, known: Iterable[str]) -> str:
    """Return `" Did you mean 'x'?"` for the most similar known name, or `""`."""
    if not isinstance(name, str):
        return ""
    import difflib  # only needed for errors

    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {matches[0]!r}?" if matches else ""


def no_attribute(owner: object, name: str) -> AttributeError:
    """Return the error for a missing attribute, with a suggestion if the name is public."""
    if hasattr(type(owner), name):  # a property that raised an AttributeError
        return AttributeError(f"{type(owner).__name__}.{name} uses a missing attribute.")
    hint = "" if name.startswith("_") else nearest(name, dir(owner))
    return AttributeError(f"{type(owner).__name__} has no attribute {name!r}.{hint}")
