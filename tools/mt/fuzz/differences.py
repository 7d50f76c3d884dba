"""Differences between the results of two libraries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mt.fuzz.libraries import Library, dtype_name
from mt_tensor.core.dtypes import Array


class Difference(NamedTuple):
    """A difference between two libraries.

    Attributes:
        kind: what differs; one of `KINDS`.
        ours: our result, as text.
        theirs: the result of the other library.
        theirs: the other's.
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


@dataclass
class Seen:
    """The observable properties of a value.

    Attributes:
        dtype: its dtype.
        array: its elements.
        flags: whether it requires grad, is a leaf and has a gradient; None if not compared.
    """

    dtype: str
    array: Array
    flags: tuple[bool, bool, bool] | None = None


def seen(library: Library, tensor: Any, with_flags: bool) -> Seen:
    """Return the observable properties of a tensor."""
    flags = None
    if with_flags:
        is_leaf = bool(tensor.is_leaf)
        flags = (bool(tensor.requires_grad), is_leaf, is_leaf and tensor.grad is not None)
    return Seen(dtype_name(tensor), library.array(tensor), flags)


def compare(name: str, ours: Seen, theirs: Seen) -> Difference | None:
    """Return how two values differ except for their elements; None if they do not."""
    if ours.dtype != theirs.dtype:
        return Difference("dtype", name, ours.dtype, theirs.dtype)
    if ours.array.shape != theirs.array.shape:
        return Difference("shape", name, str(ours.array.shape), str(theirs.array.shape))
    if ours.flags is not None and theirs.flags is not None and ours.flags != theirs.flags:
        kinds = ("requires_grad", "is_leaf", "gradient")
        where = next(i for i in range(3) if ours.flags[i] != theirs.flags[i])
        return Difference(kinds[where], name, str(ours.flags[where]), str(theirs.flags[where]))
    return None


def sharing(library: Library, values: Mapping[str, Any]) -> dict[str, str]:
    """Return for each value the first one that shares its memory."""
    first: dict[int, str] = {}
    groups = {}
    for name, tensor in values.items():
        place = library.memory(tensor)
        if place is not None:
            groups[name] = first.setdefault(place, name)
    return groups


def identities(values: Mapping[str, Any]) -> dict[str, str]:
    """Return for each value the first one that is the same object."""
    first: dict[int, str] = {}
    return {name: first.setdefault(id(value), name) for name, value in values.items()}


def refusals(ours: BaseException | None, theirs: BaseException | None) -> Difference | None:
    """Compare the errors of two libraries; None if they agree.

    The class of the error is not compared, because it depends on which of several mistakes is
    checked first; the tables of invalid calls compare classes for single mistakes.
    """
    if ours is None and theirs is None:
        return None
    said, other = plain_error(ours), plain_error(theirs)
    if ours is not None and not is_ours(ours):
        return Difference("fault", "", said, other)
    if theirs is None:
        return Difference("refused", "", said, other)
    if ours is None:
        return Difference("accepted", "", said, other)
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


def same_answers(ours: Any, theirs: Any) -> bool:
    """Return whether results other than tensors are equal, numbers up to rounding."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same_answers, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return bool(np.isclose(ours, theirs, 1e-5, 0.0, equal_nan=True))
    return type(ours) is type(theirs) and bool(ours == theirs)
