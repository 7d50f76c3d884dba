"""The representation of tensors, identical to that of torch.

A `_Style` is chosen for all printed numbers (fixed or scientific notation, width of a column). The
numbers are then arranged in nested brackets; long dimensions are abbreviated in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import numpy as np

from mt_tensor.checks import check_choice, validate_call
from mt_tensor.core.arguments import as_integer
from mt_tensor.core.dtypes import Array, bool_, get_default_dtype, int64
from mt_tensor.core.tensor import Tensor

Profile = Literal["default", "short", "full"]

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}

_options: dict[str, Any] = {**_PROFILES["default"], "sci_mode": None}
"""The global options."""

_chosen: ContextVar[dict[str, Any] | None] = ContextVar("mt_tensor_printoptions", default=None)
"""The options inside `with printoptions()`, local to a thread or task."""


def _current() -> dict[str, Any]:
    return _chosen.get() or _options


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: Profile | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set options for printing tensors. Omitted options keep their values, except `sci_mode`.

    Args:
        precision: the number of digits after the decimal point; 4 by default.
        threshold: the number of elements above which tensors are summarized; 1000 by default.
        edgeitems: the number of elements of a summary at both ends of a dimension; 3 by default.
        linewidth: the number of characters per line; 80 by default.
        profile: "default", "short" or "full", a set of options that the other arguments override.
        sci_mode: whether to use scientific notation, 1.0000e+00. None chooses it depending on the
            numbers.

    Raises:
        DomainError: a number is negative, or the profile is unknown.
        TypeError: a number is not an integer.
    """
    given: dict[str, Any] = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        if name != "threshold" or value != math.inf:
            given[name] = as_integer(name, value, minimum=0)
    check_choice("set_printoptions", "profile", profile, (None, *_PROFILES))
    check_choice("set_printoptions", "sci_mode", sci_mode, (None, True, False))
    settings = {**_PROFILES.get(profile or "", {}), **given}
    _current().update(settings, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """Return the current options, as arguments of `set_printoptions`."""
    return dict(_current())


@validate_call
@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Set options in a `with` block, for the current thread or task; see `set_printoptions`."""
    token = _chosen.set(get_printoptions())
    try:
        set_printoptions(**options)
        yield
    finally:
        _chosen.reset(token)


class _Style:
    """The format of all numbers of a tensor.

    Floats are printed as integers with a point if all are integers, else with a fixed number of
    digits; in scientific notation if they span more than three decades or are very large or small.
    """

    def __init__(self, values: Array) -> None:
        self.real = values.dtype.kind == "f"
        self.integral = True
        self.scientific = False
        self.width = 1
        if not self.real:
            self.width = max(map(len, map(str, values.ravel().tolist())), default=1)
            return
        numbers = values[np.isfinite(values) & (values != 0)].astype(np.float64)
        if not numbers.size:
            return
        largest, smallest = np.abs(numbers).max(), np.abs(numbers).min()
        self.integral = bool((numbers == np.ceil(numbers)).all())
        with np.errstate(over="ignore"):
            spread = largest / smallest > 1000
        sci_mode = _current()["sci_mode"]
        self.scientific = (
            bool(spread or largest > 1e8 or smallest < 1e-4) if sci_mode is None else sci_mode
        )
        # As in torch, nan, infinities and zero do not affect the width.
        self.width = max(map(len, map(self._text, numbers.tolist())))

    def _text(self, value: Any) -> str:
        if not self.real:
            return str(value)
        digits = _current()["precision"]
        if self.scientific:
            return f"{value:.{digits}e}"
        if self.integral:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{digits}f}"

    def format(self, value: Any) -> str:
        """Format a number, right-aligned in its column."""
        return self._text(value).rjust(self.width)


def _edges(array: Array) -> Array:
    """Return the elements of a summary."""
    edge = _current()["edgeitems"]
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            kept = [*range(edge), *range(length - edge, length)]
            array = np.take(array, kept, axis=axis)
    return array


def _vector(array: Array, indent: int, style: _Style, summarise: bool) -> str:
    """Format a 1-D array in brackets, wrapped at the end of the line."""
    edge = _current()["edgeitems"]
    if summarise and edge == 0:
        texts = ["..."]
    elif summarise and len(array) > 2 * edge:
        first, last = (map(style.format, part.tolist()) for part in (array[:edge], array[-edge:]))
        texts = [*first, " ...", *last]
    else:
        texts = [style.format(value) for value in array.tolist()]
    count = max(1, (_current()["linewidth"] - indent) // (style.width + 2))
    lines = [", ".join(texts[i : i + count]) for i in range(0, len(texts), count)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(array: Array, indent: int, style: _Style, summarise: bool) -> str:
    """Format an array in nested brackets with aligned rows."""
    if array.ndim == 0:
        return style.format(array.item())
    if array.ndim == 1:
        return _vector(array, indent, style, summarise)
    edge = _current()["edgeitems"]
    cut = summarise and len(array) > 2 * edge
    rows = [*array[:edge], *array[len(array) - edge :]] if cut else list(array)
    parts = [_nested(row, indent + 1, style, summarise) for row in rows]
    if cut:
        parts.insert(edge, "...")
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _elements(array: Array, indent: int) -> str:
    summarise = array.size > _current()["threshold"]
    return _nested(array, indent, _Style(_edges(array) if summarise else array), summarise)


def _notes(x: Tensor) -> list[str]:
    """Return the properties to print after the elements."""
    notes = []
    empty = x.numel() == 0
    if (empty and x.ndim != 1) or (not empty and not _current()["edgeitems"]):
        notes.append(f"size={x.shape}")
    default = get_default_dtype()
    if x.dtype not in ((default,) if empty else (default, int64, bool_)):
        notes.append(f"dtype={x.dtype!r}")
    if x.history is not None:
        notes.append(f"grad_fn=<{x.history.name}>")
    elif x.requires_grad:
        notes.append("requires_grad=True")
    return notes


def __repr__(self: Tensor) -> str:
    """Return the same text as torch."""
    prefix = "tensor("
    indent = len(prefix)
    array = self._numbers()
    text = prefix + (_elements(array, indent) if array.size else "[]")
    column = len(text) - text.rfind("\n") + 1
    for note in _notes(self):
        if column + len(note) + 2 > _current()["linewidth"]:
            text += ",\n" + " " * indent + note
            column = indent + len(note)
        else:
            text += ", " + note
            column += len(note) + 2
    return text + ")"


def __format__(self: Tensor, spec: str) -> str:
    """Format a 0-D tensor like its number; for others, the format must be empty."""
    return format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)
