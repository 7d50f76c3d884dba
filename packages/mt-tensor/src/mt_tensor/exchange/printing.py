"""How tensors are shown: torch's text, to the character.

One `_Style` is chosen for all numbers that are shown (plain or scientific, how wide a column is);
the numbers are then laid out in nested brackets, the middle of long dimensions left out.
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
"""The choices for all tensors, as in torch."""

_chosen: ContextVar[dict[str, Any] | None] = ContextVar("mt_tensor_printoptions", default=None)
"""Those of a `with` block, which are its thread's or task's alone."""


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
    """Choose how tensors are shown; what is not given stays as it is, but for `sci_mode`.

    Args:
        precision: digits after the decimal point; 4 at first.
        threshold: tensors with more elements are summarised; 1000 at first.
        edgeitems: how many elements a summary shows at both ends of each dimension; 3 at first.
        linewidth: characters on a line; 80 at first.
        profile: "default", "short" or "full": settings that the other arguments adjust.
        sci_mode: whether numbers are shown as 1.0000e+00. None, also when not given, leaves the
            choice to the numbers.

    Raises:
        DomainError: a number is negative, or the profile is unknown.
        TypeError: a number is not whole.
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
            given[name] = as_integer(name, value, least=0)
    check_choice("profile", profile, (None, *_PROFILES))
    check_choice("sci_mode", sci_mode, (None, True, False))
    settings = {**_PROFILES.get(profile or "", {}), **given}
    _current().update(settings, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """Return the present choices, as arguments for `set_printoptions`."""
    return dict(_current())


@validate_call
@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Show tensors in another way inside a `with` block; see `set_printoptions`.

    That holds for the thread or task which enters the block.
    """
    token = _chosen.set(get_printoptions())
    try:
        set_printoptions(**options)
        yield
    finally:
        _chosen.reset(token)


class _Style:
    """One way of writing for all numbers of a tensor.

    Floats are written as whole numbers with a point if all are whole; else with a fixed number of
    digits; with an exponent if they span more than three decades, or are very large or small.
    """

    def __init__(self, shown: Array) -> None:
        self.real = shown.dtype.kind == "f"
        self.whole = True
        self.scientific = False
        self.width = 1
        if not self.real:
            self.width = max(map(len, map(str, shown.ravel().tolist())), default=1)
            return
        numbers = shown[np.isfinite(shown) & (shown != 0)].astype(np.float64)
        if not numbers.size:
            return
        largest, least = np.abs(numbers).max(), np.abs(numbers).min()
        self.whole = bool((numbers == np.ceil(numbers)).all())
        with np.errstate(over="ignore"):
            spread = largest / least > 1000
        wanted = _current()["sci_mode"]
        self.scientific = (
            bool(spread or largest > 1e8 or least < 1e-4) if wanted is None else wanted
        )
        # nan, infinities and zero take part in no column's width, as in torch
        self.width = max(map(len, map(self._text, numbers.tolist())))

    def _text(self, value: Any) -> str:
        if not self.real:
            return str(value)
        digits = _current()["precision"]
        if self.scientific:
            return f"{value:.{digits}e}"
        if self.whole:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{digits}f}"

    def format(self, value: Any) -> str:
        """Return a number, moved to the right of its column."""
        return self._text(value).rjust(self.width)


def _edges(array: Array) -> Array:
    """Return the elements that a summary shows."""
    edge = _current()["edgeitems"]
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            kept = [*range(edge), *range(length - edge, length)]
            array = np.take(array, kept, axis=axis)
    return array


def _vector(array: Array, indent: int, style: _Style, summarise: bool) -> str:
    """Return the elements of a 1-D array in brackets, wrapped at the end of the line."""
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
    """Return an array as nested brackets, the rows aligned under each other."""
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
    """Return what is said after the elements: only what they do not show."""
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
    """Show the elements as torch does."""
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
    """Format a 0-dimensional tensor like its number, any other only as a whole."""
    return format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)
