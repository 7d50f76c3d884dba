"""The instructions of random programs: one table, with each one for tensors and for NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_tensor.conformance.choices import (
    Settings,
    a_dim,
    a_dim_and_keepdim,
    a_number,
    a_part,
    a_shape,
    a_type,
    a_window,
    alike,
    an_index,
    an_order,
    broadcasting,
    fitting,
    nothing,
    of_floats,
    on_floats,
    products,
    some_positions,
    storable,
    two_dims,
)


@dataclass(frozen=True)
class Instruction:
    """One thing that a program may do.

    Attributes:
        name: what it is called.
        operands: how many tensors it takes.
        settings: draws the other arguments, given the tensors; None if it does not apply to them.
        call: from mt_tensor or torch, the tensors and the settings to the result.
        on_numpy: the same from arrays and settings.
        changes: whether it changes its first tensor instead of making another.
    """

    name: str
    operands: int
    settings: Callable[..., Settings]
    call: Callable[..., Any]
    on_numpy: Callable[..., Any]
    changes: bool = False


INSTRUCTIONS: list[Instruction] = []


def instruction(
    name: str,
    settings: Callable[..., Settings],
    call: Callable[..., Any],
    on_numpy: Callable[..., Any],
    operands: int = 1,
    changes: bool = False,
) -> None:
    """Add an instruction to the table."""
    INSTRUCTIONS.append(Instruction(name, operands, settings, call, on_numpy, changes))


# --- How NumPy does it ----------------------------------------------------------------------------


def _store(x: Any, values: Any, same_kind: bool = False) -> Any:
    """Store values in an array; NumPy's own promotion is not followed, but for its kinds."""
    values = np.array(values)
    if same_kind and "bif".index(values.dtype.kind) > "bif".index(x.dtype.kind):
        raise TypeError("the result is of another kind")
    if np.broadcast_shapes(x.shape, values.shape) != x.shape:
        raise ValueError("the values do not fit")
    x[...] = values
    return x


def _numpy_view(x: Any, shape: tuple[int, ...]) -> Any:
    """Return a view, or raise where NumPy would have to copy."""
    view = x.view()
    view.shape = shape
    return view


def _contiguous(x: Any) -> Any:
    return x if x.flags.c_contiguous else np.array(x, order="C")


def _writeable(view: Any) -> Any:
    view.flags.writeable = True
    return view


# --- New tensors, element by element ------------------------------------------------------------

_function: Callable[..., Any]
for _name, _function in (("neg", np.negative), ("abs", np.abs)):
    instruction(
        _name,
        lambda draw, x: None if x.dtype.kind == "bool" else (),
        lambda lib, x, name=_name: getattr(x, name)(),
        lambda x, function=_function: function(x),
    )
for _name, _function in (
    ("tanh", np.tanh),
    ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    ("relu", lambda x: np.maximum(x, 0)),
    ("exp", np.exp),
    ("floor", np.floor),
    ("square", np.square),
):
    instruction(
        _name,
        on_floats,
        lambda lib, x, name=_name: getattr(x, name)(),
        lambda x, function=_function: function(x),
    )
for _name, _function in (
    ("add", np.add),
    ("mul", np.multiply),
    ("maximum", np.maximum),
    ("lt", np.less),
    ("eq", np.equal),
    ("logical_or", np.logical_or),
):
    instruction(
        _name,
        broadcasting,
        lambda lib, x, y, name=_name: getattr(x, name)(y),
        lambda x, y, function=_function: function(x, y),
        operands=2,
    )
instruction(
    "sub",
    lambda draw, x, y: None if "bool" in (x.dtype.kind, y.dtype.kind) else broadcasting(draw, x, y),
    lambda lib, x, y: x - y,
    np.subtract,
    operands=2,
)
instruction(
    "div",
    broadcasting,
    lambda lib, x, y: x / (y * y + 1),
    lambda x, y: x / (y * y + 1),
    operands=2,
)
instruction("plus", a_number, lambda lib, x, n: x + n, lambda x, n: x + n)
instruction("times", a_number, lambda lib, x, n: 0.5 * n * x, lambda x, n: 0.5 * n * x)
instruction(
    "where",
    broadcasting,
    lambda lib, c, x, y: lib.where(c > 0, x, y),
    lambda c, x, y: np.where(c > 0, x, y),
    operands=3,
)
instruction(
    "to",
    a_type,
    lambda lib, x, dtype: x.to(getattr(lib, dtype, None) or lib.bool_),
    lambda x, dtype: x.astype(dtype, copy=False),
)
instruction("clone", nothing, lambda lib, x: x.clone(), np.array)
instruction("detach", nothing, lambda lib, x: x.detach(), lambda x: x)

# --- New tensors, of many elements ----------------------------------------------------------------

instruction("sum", nothing, lambda lib, x: x.sum(), np.sum)
for _name in ("sum", "amax", "amin", "all", "any", "prod"):
    instruction(
        f"{_name} along",
        a_dim_and_keepdim,
        lambda lib, x, dim, keepdim, name=_name: getattr(x, name)(dim, keepdim),
        lambda x, dim, keepdim, name=_name: getattr(np, name)(x, axis=dim, keepdims=keepdim),
    )
for _name in ("mean", "logsumexp"):
    instruction(
        _name,
        of_floats(a_dim_and_keepdim),
        lambda lib, x, dim, keepdim, name=_name: getattr(x, name)(dim, keepdim),
        lambda x, dim, keepdim, name=_name: (
            np.mean(x, dim, keepdims=keepdim)
            if name == "mean"
            else np.log(np.sum(np.exp(x), dim, keepdims=keepdim))
        ),
    )
instruction(
    "max along",
    a_dim_and_keepdim,
    lambda lib, x, dim, keepdim: x.max(dim, keepdim).values,
    lambda x, dim, keepdim: np.max(x, dim, keepdims=keepdim),
)
instruction(
    "argmin",
    lambda draw, x: None if x.dtype.kind == "bool" else a_dim_and_keepdim(draw, x),
    lambda lib, x, dim, keepdim: x.argmin(dim, keepdim),
    lambda x, dim, keepdim: np.argmin(x, dim, keepdims=keepdim),
)
instruction(
    "softmax",
    of_floats(a_dim),
    lambda lib, x, dim: x.softmax(dim),
    lambda x, dim: np.exp(x) / np.exp(x).sum(dim, keepdims=True),
)
instruction("cumsum", a_dim, lambda lib, x, dim: x.cumsum(dim), np.cumsum)
instruction(
    "sort",
    a_dim,
    lambda lib, x, dim: x.sort(dim).values,
    np.sort,
)
instruction("matmul", products, lambda lib, x, y: x @ y, lambda x, y: x @ y, operands=2)
instruction(
    "cat",
    alike,
    lambda lib, x, y, dim: lib.cat([x, y], dim),
    lambda x, y, dim: np.concatenate([x, y], dim),
    operands=2,
)
instruction(
    "stack",
    alike,
    lambda lib, x, y, dim: lib.stack([x, y], dim),
    lambda x, y, dim: np.stack([x, y], dim),
    operands=2,
)
# A flip is a view here, as in NumPy; torch, which has no negative strides, copies.
instruction(
    "flip and clone",
    a_dim,
    lambda lib, x, dim: x.flip(dim).clone(),
    lambda x, dim: np.flip(x, dim).copy(),
)
instruction("roll", a_dim, lambda lib, x, dim: x.roll(1, dim), lambda x, dim: np.roll(x, 1, dim))
instruction(
    "index_select",
    some_positions,
    lambda lib, x, dim, where: x.index_select(dim, lib.tensor(where, dtype=lib.int64)),
    lambda x, dim, where: np.take(x, np.array(where, np.int64), dim),
)
instruction(
    "pick",
    some_positions,
    lambda lib, x, dim, where: x[(slice(None),) * dim + (where,)],
    lambda x, dim, where: x[(slice(None),) * dim + (np.array(where, np.int64),)],
)
instruction("mask", nothing, lambda lib, x: x[x > 0], lambda x: x[x > 0])
instruction(
    "take_along_dim",
    lambda draw, x: None if x.dtype.kind == "bool" or not x.numel() else a_dim(draw, x),
    lambda lib, x, dim: x.take_along_dim(x.argmax(dim, keepdim=True), dim),
    lambda x, dim: np.max(x, dim, keepdims=True),
)

# --- Views ----------------------------------------------------------------------------------------

instruction("permute", an_order, lambda lib, x, order: x.permute(order), np.transpose)
instruction(
    "transpose",
    two_dims,
    lambda lib, x, a, b: x.transpose(a, b),
    np.swapaxes,
)
instruction(
    "getitem",
    an_index,
    lambda lib, x, index: x[index],
    lambda x, index: x[index if ... in index else (*index, ...)],  # a view, never a number
)
instruction("unsqueeze", a_dim, lambda lib, x, dim: x.unsqueeze(dim), np.expand_dims)
instruction("squeeze", nothing, lambda lib, x: x.squeeze(), np.squeeze)
instruction("reshape", a_shape, lambda lib, x, shape: x.reshape(shape), np.reshape)
instruction("view", a_shape, lambda lib, x, shape: x.view(shape), _numpy_view)
instruction(
    "expand",
    lambda draw, x: (draw.between(1, 2),) if x.numel() < 32 else None,
    lambda lib, x, n: x.expand(n, *x.shape),
    lambda x, n: np.lib.stride_tricks.as_strided(x, (n, *x.shape), (0, *x.strides)),
)
instruction(
    "unfold",
    a_window,
    lambda lib, x, dim, size: x.unfold(dim, size, size),
    lambda x, dim, size: np.lib.stride_tricks.sliding_window_view(x, size, dim, writeable=True)[
        (slice(None),) * dim + (slice(None, None, size),)
    ],
)
instruction(
    "diagonal",
    lambda draw, x: (draw.between(-1, 1),) if x.ndim >= 2 else None,
    lambda lib, x, offset: x.diagonal(offset),
    lambda x, offset: _writeable(np.diagonal(x, offset)),
)
instruction("contiguous", nothing, lambda lib, x: x.contiguous(), _contiguous)
instruction(  # not chunk: torch lets none of several views be changed
    "narrow",
    a_window,
    lambda lib, x, dim, size: x.narrow(dim, x.shape[dim] - size, size),
    lambda x, dim, size: x[(slice(None),) * dim + (slice(x.shape[dim] - size, None),)],
)

# --- Changes in place -----------------------------------------------------------------------------

for _name, _function in (("add_", np.add), ("mul_", np.multiply), ("sub_", np.subtract)):
    instruction(
        _name,
        lambda draw, x, y, name=_name: (
            None
            if name == "sub_" and "bool" in (x.dtype.kind, y.dtype.kind)
            else fitting(draw, x, y)
        ),
        lambda lib, x, y, name=_name: getattr(x, name)(y),
        lambda x, y, ufunc=_function: _store(x, ufunc(x, y), same_kind=True),
        operands=2,
        changes=True,
    )
instruction(
    "copy_",
    storable,
    lambda lib, x, y: x.copy_(y),
    _store,
    operands=2,
    changes=True,
)
instruction(
    "fill_",
    a_number,
    lambda lib, x, n: x.fill_(n),
    _store,
    changes=True,
)
instruction(
    "setitem",
    lambda draw, x: (*an_index(draw, x), *a_number(draw, x)),  # type: ignore[misc]
    lambda lib, x, index, n: x.__setitem__(index, n),
    lambda x, index, n: x.__setitem__(index, n),
    changes=True,
)
instruction(
    "tanh_",
    on_floats,
    lambda lib, x: x.tanh_(),
    lambda x: _store(x, np.tanh(x)),
    changes=True,
)
instruction(
    "setitem from",
    a_part,
    lambda lib, x, y, index: x.__setitem__(index, y),
    lambda x, y, index: x.__setitem__(index if ... in index else (*index, ...), y),
    operands=2,
    changes=True,
)
instruction(
    "set mask",
    a_number,
    lambda lib, x, n: x.__setitem__(x > 1, n),
    lambda x, n: x.__setitem__(x > 1, n),
    changes=True,
)
instruction(
    "set picked",
    some_positions,
    lambda lib, x, dim, where: x.__setitem__((slice(None),) * dim + (where,), 2),
    lambda x, dim, where: x.__setitem__((slice(None),) * dim + (np.array(where, np.int64),), 2),
    changes=True,
)
