"""Differences between the results of two libraries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mt_tensor.core.dtypes import Array


class Difference(NamedTuple):
    """A difference between two libraries.

    Attributes:
        kind: what differs; one of `KINDS`.
        value: the name of the value that differs.
        ours: our result, as text.
        theirs: the result of the other library.
        off: the maximum difference of finite elements.
    """

    kind: str
    value: str
    ours: str
    theirs: str
    off: float = math.inf


KINDS = {
    "refused": "raises only here",
    "accepted": "raises only on torch",
    "fault": "raises an internal error here",
    "half done": "elements changed by a step that raises",
    "parts": "types or numbers of results",
    "dtype": "dtypes",
    "shape": "shapes",
    "values": "elements, beyond rounding",
    "infinite": "elements, one of them infinite or nan",
    "zero": "signs of zeros",
    "requires_grad": "`requires_grad`",
    "is_leaf": "`is_leaf`",
    "gradient": "presence of a gradient",
    "memory": "sharing of memory",
    "identity": "identity of objects",
    "crash": "the process crashed",
}
"""The kinds of differences."""


def compare(name: str, ours: Any, theirs: Any, flags: bool) -> Difference | None:
    """Return how two tensors differ except for their elements; None if they do not.

    Args:
        name: their name.
        ours: our tensor.
        theirs: the other one.
        flags: whether to compare `requires_grad`, `is_leaf` and the presence of a gradient, too.
    """
    mine, other = _observed(ours, flags), _observed(theirs, flags)
    for kind, value in mine.items():
        if value != other[kind]:
            return Difference(kind, name, str(value), str(other[kind]))
    return None


def _observed(x: Any, flags: bool) -> dict[str, Any]:
    """Return the properties of a tensor, by the kind of a difference."""
    properties: dict[str, Any] = {"dtype": str(x.dtype).rpartition(".")[2], "shape": tuple(x.shape)}
    if flags:
        properties["requires_grad"] = x.requires_grad
        properties["is_leaf"] = x.is_leaf
        properties["gradient"] = x.is_leaf and x.grad is not None
    return properties


def groups(values: Mapping[str, Any], key: Callable[[Any], int | None]) -> dict[str, str]:
    """Return for each value the first one with the same key, such as its memory or `id`."""
    first: dict[int, str] = {}
    keys = {name: key(value) for name, value in values.items()}
    return {name: first.setdefault(k, name) for name, k in keys.items() if k is not None}


def compare_errors(ours: BaseException | None, theirs: BaseException | None) -> Difference | None:
    """Compare the errors of two libraries; None if they agree.

    The class of the error is not compared, because it depends on which of several mistakes is
    checked first; the tables of invalid calls compare classes for single mistakes.
    """
    if ours is None and theirs is None:
        return None
    our_message, their_message = plain_error(ours), plain_error(theirs)
    if ours is not None and not is_ours(ours):
        return Difference("fault", "", our_message, their_message)
    if theirs is None:
        return Difference("refused", "", our_message, their_message)
    if ours is None:
        return Difference("accepted", "", our_message, their_message)
    return None


def plain_error(error: BaseException | None) -> str:
    """Return an error as text, or "accepted"."""
    return "accepted" if error is None else f"{type(error).__name__}: {error}"


def is_ours(error: BaseException) -> bool:
    """Return whether an error describes a mistake of the user, and is not internal."""
    return type(error).__module__.startswith("mt_") or type(error) in {TypeError, MemoryError}


def as_text(array: Array) -> str:
    """Return elements as text."""
    with np.printoptions(threshold=64, linewidth=110):
        return repr(array)


def elements_differ(name: str, ours: Array, theirs: Array, where: Array) -> Difference:
    """Return the difference of the elements selected by a mask."""
    with np.errstate(all="ignore"):
        off = abs(ours.astype(np.float64) - theirs.astype(np.float64))[where]
    finite = off[np.isfinite(off)]
    kind = "values" if finite.size else "infinite"
    return Difference(kind, name, as_text(ours), as_text(theirs), float(finite.max(initial=0.0)))


def signs_differ(ours: Array, theirs: Array) -> bool:
    """Return whether a zero has another sign."""
    if ours.dtype.kind != "f":
        return False
    zeros = (ours == 0) & (theirs == 0)
    return bool((np.signbit(ours) != np.signbit(theirs))[zeros].any())


def first_difference(ours: dict[str, str], theirs: dict[str, str]) -> tuple[str, str, str]:
    """Return the first key whose values differ in two mappings, with both values."""
    name = next(name for name in ours if ours[name] != theirs.get(name))
    return name, f"that of {ours[name]}", f"that of {theirs.get(name)}"


def same_results(ours: Any, theirs: Any) -> bool:
    """Return whether results other than tensors are equal, numbers up to rounding."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same_results, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return bool(np.isclose(ours, theirs, 1e-5, 0.0, equal_nan=True))
    return type(ours) is type(theirs) and bool(ours == theirs)
