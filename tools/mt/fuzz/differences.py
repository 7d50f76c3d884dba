"""What a difference is, and how the answers of two libraries are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mt.fuzz.libraries import Library, dtype_name
from mt_tensor.core.dtypes import Array


class Difference(NamedTuple):
    """Something that one library answers otherwise than the other.

    Attributes:
        kind: what differs; one of `KINDS`.
        value: the name of the value that shows it.
        ours: our answer, as text.
        theirs: the other's.
        off: by how much finite elements differ at most.
    """

    kind: str
    value: str
    ours: str
    theirs: str
    off: float = math.inf


KINDS = {
    "refused": "only refused here",
    "accepted": "only refused by torch",
    "fault": "refused here by an error that is none of ours",
    "half done": "elements that a step has changed that is refused here",
    "parts": "results of other kinds or numbers",
    "dtype": "element types",
    "shape": "shapes",
    "values": "elements, by more than rounding",
    "infinite": "elements of which one is infinite or nan",
    "zero": "the signs of zeros",
    "requires_grad": "whether a gradient is wanted",
    "is_leaf": "whether a value is a leaf",
    "gradient": "whether there is a gradient",
    "memory": "which values share memory",
    "identity": "which values are one object",
    "crash": "the process ended",
}
"""What may differ."""


@dataclass
class Seen:
    """What is seen of one value.

    Attributes:
        dtype: its element type.
        array: its elements.
        flags: whether it requires grad, is a leaf and has a gradient; None if not looked at.
    """

    dtype: str
    array: Array
    flags: tuple[bool, bool, bool] | None = None


def seen(library: Library, tensor: Any, with_flags: bool) -> Seen:
    """Return what is seen of a tensor."""
    flags = None
    if with_flags:
        is_leaf = bool(tensor.is_leaf)
        flags = (bool(tensor.requires_grad), is_leaf, is_leaf and tensor.grad is not None)
    return Seen(dtype_name(tensor), library.array(tensor), flags)


def compare(name: str, ours: Seen, theirs: Seen) -> Difference | None:
    """Return in what two values differ, but for their elements; None if in nothing."""
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
    """Return for each value the first one that has the same memory."""
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
    """Return how one library refuses otherwise than the other; None if in no way.

    Of which class an error is depends on which of several mistakes is looked at first; where there
    is but one, the tables of refused calls compare classes.
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
    """Return what an error says, as text; that all was well if there is none."""
    return "accepted" if error is None else f"{type(error).__name__}: {error}"


def is_ours(error: BaseException) -> bool:
    """Whether an error is one that says what was wrong: not one from the depths."""
    return type(error).__module__.startswith("mt_") or type(error) in {TypeError, MemoryError}


def as_text(array: Array) -> str:
    """Return elements as text."""
    with np.printoptions(threshold=64, linewidth=110):
        return repr(array)


def elements_differ(name: str, ours: Array, theirs: Array, where: Array) -> Difference:
    """Return the difference of elements at some places."""
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
    """Return the first name that two mappings have something else for, and what they have."""
    name = next(name for name in ours if ours[name] != theirs.get(name))
    return name, f"that of {ours[name]}", f"that of {theirs.get(name)}"


def same_answers(ours: Any, theirs: Any) -> bool:
    """Return whether plain answers are the same, numbers but for rounding."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same_answers, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return bool(np.isclose(ours, theirs, 1e-5, 0.0, equal_nan=True))
    return type(ours) is type(theirs) and bool(ours == theirs)
