"""The errors of stage 0, and the suggestion of a similar name, which every stage uses.

Each error says what was wrong, what was given and what to do, and derives from the built-in
exception that fits, so that `except KeyError` and `except ValueError` keep working.
"""

from __future__ import annotations

from collections.abc import Iterable


class OperatorError(ValueError):
    """Base of the errors raised about operators."""


class UnknownOperatorError(OperatorError, KeyError):
    """No operator has the given name."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes


class OperatorExistsError(OperatorError):
    """The name of a new operator is already in use."""


class TracingError(OperatorError, TypeError):
    """A function cannot be traced, for example because it branches on a value."""


class ModuleError(RuntimeError, ValueError):
    """Base of the errors raised about modules; torch raises one or the other for most."""


class MemberError(ModuleError, TypeError):
    """The value cannot become a member of a module."""


class MemberNameError(ModuleError, KeyError):
    """Invalid name for a submodule, parameter or buffer."""

    __str__ = Exception.__str__


class StateDictError(ModuleError):
    """A state dictionary does not fit the module that should load it."""


def nearest(name: object, known: Iterable[str]) -> str:
    """Return `" Did you mean 'x'?"` for the most similar known name, or `""`."""
    if not isinstance(name, str):
        return ""
    import difflib  # only when something went wrong

    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {matches[0]!r}?" if matches else ""


def no_attribute(owner: object, name: str) -> AttributeError:
    """Return the error for a missing attribute; a public one gets a suggestion."""
    if hasattr(type(owner), name):  # a property, whose code failed with an AttributeError
        return AttributeError(f"{type(owner).__name__}.{name} uses an attribute that is not there.")
    hint = "" if name.startswith("_") else nearest(name, dir(owner))
    return AttributeError(f"{type(owner).__name__} has no attribute {name!r}.{hint}")
