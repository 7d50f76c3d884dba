"""The errors of stage 0, and the one way every stage suggests a nearest name.

Here the lesson begins. Each error says what was wrong, what was given and what to do, and derives
from the builtin exception that fits, so that code which catches `KeyError` or `ValueError` keeps
working.
"""

from __future__ import annotations

from collections.abc import Iterable


class OperatorError(ValueError):
    """Base of the errors raised about operators."""


class UnknownOperatorError(OperatorError, KeyError):
    """An operator was asked for under a name that the table does not hold."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes


class OperatorExistsError(OperatorError):
    """An operator was registered under a name that is taken."""


class TracingError(OperatorError, TypeError):
    """A function leaves no graph of operations, for example because it branches on a value."""


class ModuleError(RuntimeError, ValueError):
    """Base of the errors raised about trees of modules; torch raises either of both for most."""


class MemberError(ModuleError, TypeError):
    """Something was to become a member of a module that cannot be one."""


class MemberNameError(ModuleError, KeyError):
    """A member of a module was to have a name under which it could not be held or found."""

    __str__ = Exception.__str__  # as above


class StateDictError(ModuleError):
    """A state dictionary does not fit the module that should load it."""


def no_attribute(owner: object, name: str) -> AttributeError:
    """Return the error for an attribute that is not there, with the nearest name that is.

    Names that begin with an underscore get no hint: they are not misspelt by people but asked for
    by programs, often, and searching would cost those dearly.
    """
    if hasattr(type(owner), name):  # a property, which failed for want of another attribute
        return AttributeError(f"{type(owner).__name__}.{name} uses an attribute that is not there.")
    hint = "" if name.startswith("_") else nearest(name, dir(owner))
    return AttributeError(f"{type(owner).__name__} has no attribute {name!r}.{hint}")


def nearest(name: object, known: Iterable[str]) -> str:
    """Return `" Did you mean 'x'?"` for the known name closest to `name`, or `""`."""
    if not isinstance(name, str):
        return ""
    import difflib  # only when something went wrong

    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {matches[0]!r}?" if matches else ""
