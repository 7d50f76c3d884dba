"""Samples of changes in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_operators import OPERATORS
from mt_operators.testing import SPECS, WHOLE_SPECS
from mt_tensor.core.dtype_rules import dtype_rules_of
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import DTypeError, InPlaceError, ShapeError
from mt_tensor.testing.specs import AT, places, refused, row, single


def _in_place(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def call(x: Any, y: Any) -> Any:
        result = x.detach().clone()
        change(result, y.detach())
        return result

    return call


def _in_place_oracle(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def oracle(x: Array, y: Array) -> Array:
        out = np.array(x)
        change(out, y)
        return out

    return oracle


row("add_", _in_place(lambda x, y: x.add_(y, alpha=2)), lambda x, y: x + 2 * y, ((2, 3), (3,)))
refused("add_", lambda x: x.requires_grad_().add_(1), InPlaceError, "requires grad")
refused("add_", lambda x: x.long().add_(1.5), DTypeError, "cannot be stored in place in int64")
refused("add_", lambda x: x.expand(2, 2, 3).add_(1), InPlaceError, "repeats elements")
refused("add_", lambda x: x[0].add_(x), ShapeError, "does not broadcast to")
row("sub_", _in_place(lambda x, y: x.sub_(y)), lambda x, y: x - y, ((2, 3), ()), dtypes="number")
row("mul_", _in_place(lambda x, y: x.mul_(y)), lambda x, y: x * y, ((2, 3), (2, 1)))
row("div_", _in_place(lambda x, y: x.div_(y)), lambda x, y: x / y, ((3,), (3,)), dtypes="float")
row("copy_", _in_place(lambda x, y: x.copy_(y)), lambda x, y: y + 0 * x, ((2, 3), (3,)))
row("zero_", _in_place(lambda x, y: x.T.zero_()), lambda x, y: 0 * x, ((2, 3), ()))
row(
    "fill_",
    _in_place(lambda x, y: x[0].fill_(2)),
    lambda x, y: np.stack([0 * x[0] + 2, x[1]]),
    ((2, 3), ()),
)


def _assign(x: Any, y: Any) -> None:
    x[:, ::2] = y
    x[0] += x[1]  # a view of the same storage on the right


def _assign_oracle(x: Array, y: Array) -> Array:
    out = np.array(x)
    out[:, ::2] = y
    out[0] += out[1]
    return out


row("setitem", _in_place(_assign), _assign_oracle, ((2, 3), (2, 2)), differentiable=False)


def _assign_picked(x: Any, y: Any) -> None:
    x[[0, 2], ::-1, [1, 0]] = y
    x[x < 0] = 7


row(
    "setitem",
    _in_place(_assign_picked),
    _in_place_oracle(_assign_picked),
    ((3, 2, 2), (2, 2)),
    ((3, 4, 2), (1, 4)),
    ((3, 0, 2), ()),
    differentiable=False,
    torch="it has no negative steps",
)


def _shifted(x: Any, _: Any) -> None:
    x[1:].add_(x[:-1])  # overlapping views: as if the right side were read first


row(
    "add_",
    _in_place(_shifted),
    lambda x, y: np.concatenate([x[:1], x[1:] + x[:-1]]),
    ((6,), ()),
    torch="it refuses memory that overlaps",
)


def _changed_by(name: str, *args: Any) -> Callable[..., Any]:
    """Return the call of a method that changes its tensor, with the arguments and no other."""
    return _in_place(lambda x, y: getattr(x, name)(*args))


def _operator_in_place(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the in-place form of an operator of the table, and its oracle."""
    arity, whole = OPERATORS[name].arity, name in WHOLE_SPECS
    values: Callable[..., Any] = WHOLE_SPECS[name] if whole else SPECS[name].oracle

    def call(x: Any, y: Any) -> Any:
        x, y = ((each.long() if whole else each).detach().clone() for each in (x, y))
        return getattr(x, f"{name}_")(*(y, y + 1)[: arity - 1])

    def oracle(x: Array, y: Array) -> Array:
        given = [each.astype(np.int64 if whole else np.float64) for each in (x, y, y + 1)[:arity]]
        with np.errstate(all="ignore"):
            return np.asarray(1.0 * values(np, *given))

    return call, oracle


_STORED = {"real": "float", "number": "number", "integer": "index", "bool": "same"}
"""The element types that the results of an operator can be stored in, by the kind of the result."""

_ON_BOOL = ("clamp_max", "clamp_min", "sign")
"""Operators of numbers that truth values have, too."""

_WITHOUT_ZEROS = ("floor_divide", "fmod", "pow", "remainder")
"""Operators that are undefined for some whole numbers, zero or less."""

for _name in (name for name, operator in OPERATORS.items() if dtype_rules_of(operator).in_place):
    if _name in ("add", "sub", "mul", "div"):  # they have settings, and samples of their own
        continue
    _call, _oracle = _operator_in_place(_name)
    row(
        _name + "_",
        _call,
        _oracle,
        ((2, 3), (3,)),
        ((4,), ()),
        ((0, 2), (2,)),
        positive=_name in _WITHOUT_ZEROS,
        dtypes="same" if _name in _ON_BOOL else _STORED[OPERATORS[_name].result],
        torch="it has reciprocal_ alone" if _name == "inv" else "",
    )


def _by_operators(x: Any, y: Any) -> None:
    x //= 2
    x **= 2
    x %= y


_Pair = Callable[[Any, Any], Any]
_WITH_SETTINGS: tuple[tuple[str, str, _Pair, _Pair], ...] = (
    (
        "addcdiv_",
        "float",
        lambda x, y: x.addcdiv_(y, y * y + 1),
        lambda x, y: x + y / (y * y + 1),
    ),
    ("addcmul_", "number", lambda x, y: x.addcmul_(y, y, value=2), lambda x, y: x + 2 * y * y),
    ("deg2rad_", "float", lambda x, y: x.deg2rad_(), lambda x, y: np.deg2rad(x)),
    ("frac_", "float", lambda x, y: x.frac_(), lambda x, y: np.fmod(x, 1)),
    (
        "heaviside_",
        "same",
        lambda x, y: x.masked_fill_(x > 0, 0).heaviside_(y),
        lambda x, y: np.where(x < 0, 0, y),
    ),
    ("ldexp_", "float", lambda x, y: x.ldexp_(y), lambda x, y: x * 2**y),
    ("logit_", "float", lambda x, y: x.sigmoid_().logit_(), lambda x, y: x),
    (
        "nan_to_num_",
        "float",
        lambda x, y: x.log_().nan_to_num_(0.5),
        lambda x, y: np.where(x > 0, np.log(abs(x)), 0.5),
    ),
    ("rad2deg_", "float", lambda x, y: x.rad2deg_(), lambda x, y: np.rad2deg(x)),
    ("reciprocal_", "float", lambda x, y: x.reciprocal_(), lambda x, y: 1 / x),
)
"""Changes in place by functions with settings: name, rule for element types, call and oracle."""

for _name, _rule, _changes, _wanted in _WITH_SETTINGS:
    row(_name, _in_place(_changes), _wanted, ((2, 3), (3,)), ((0, 2), (2,)), dtypes=_rule)
row(
    "float_power_",
    lambda x: x.detach().clone().double().float_power_(3),
    lambda x: x**3,
    *single((2, 3), (0,)),
    dtypes="double",
)
refused(
    "float_power_", lambda x: x.float_power_(2), DTypeError, "cannot be stored in place in float32"
)
row(
    "remainder_",
    _in_place(_by_operators),
    _in_place_oracle(_by_operators),
    ((2, 3), (3,)),
    dtypes="float",
)
refused("remainder_", lambda x: x.requires_grad_().add_(1), InPlaceError, "requires grad")
refused(
    "remainder_",
    lambda x: x.long().exp_(),
    DTypeError,
    "float32 cannot be stored in place in int64",
)
refused(
    "remainder_",
    lambda x: x.bool().bitwise_or_(2),
    DTypeError,
    "int64 cannot be stored in place in bool",
)
refused("remainder_", lambda x: x[0].pow_(x), ShapeError, r"shape \(2, 3\) cannot be stored in")
refused("remainder_", lambda x: x.expand(2, 2, 3).exp_(), InPlaceError, "repeats elements")
refused("remainder_", lambda x: x.bitwise_and_(1), DTypeError, "integers and bool")
_ALIASES: dict[str, Callable[..., Any]] = {
    "subtract_": np.subtract,
    "divide_": np.divide,
    "true_divide_": np.divide,
}
for _name, _oracle in _ALIASES.items():
    _call = _in_place(lambda x, y, n=_name: getattr(x, n)(y))  # type: ignore[misc]
    _stored = _STORED["real" if _oracle is np.divide else "number"]
    row(_name, _call, _oracle, ((2, 3), (3,)), dtypes=_stored)
row(
    "div_",
    _in_place(lambda x, y: x.div_(y, rounding_mode="floor")),
    np.floor_divide,
    ((2, 3), (3,)),
    dtypes="float",
)
_ALONG: dict[str, tuple[int, Callable[..., Any]]] = {
    "cumsum_": (0, np.cumsum),
    "cumprod_": (0, np.cumprod),
    "tril_": (-1, np.tril),
    "triu_": (-1, np.triu),
}
row("multiply_", _in_place(lambda x, y: x.multiply_(y)), np.multiply, ((2, 3), (3,)))
for _name, (_number, _oracle) in _ALONG.items():
    row(
        _name,
        _changed_by(_name, _number),
        lambda x, y, f=_oracle, n=_number: f(x, n),
        ((2, 3), ()),
        ((2, 3, 2), ()),
        dtypes="number" if _name.startswith("cum") else "same",
    )
row(
    "fill_diagonal_",
    _in_place(lambda x, y: x.fill_diagonal_(7)),
    _in_place_oracle(lambda x, y: np.fill_diagonal(x, 7)),
    ((2, 3), ()),
    ((5, 2), ()),
    ((2, 2, 2), ()),
)
refused("fill_diagonal_", lambda x: x[0].fill_diagonal_(1), ShapeError, "needs a matrix")
row(
    "masked_fill_",
    _in_place(lambda x, y: x.masked_fill_(y > 0, 7)),
    lambda x, y: np.where(y > 0, 7.0, x),
    ((2, 3), (3,)),
)
row(
    "index_add_",
    _in_place(lambda x, y: x.index_add_(1, AT[0](x), y)),
    _in_place_oracle(lambda x, y: x.__setitem__((slice(None), AT[1]), x[:, AT[1]] + y)),
    ((2, 3), (2, 2)),
)
row(
    "index_copy_",
    _in_place(lambda x, y: x.index_copy_(1, AT[0](x), y)),
    _in_place_oracle(lambda x, y: x.__setitem__((slice(None), AT[1]), y)),
    ((2, 3), (2, 2)),
)
row(
    "index_fill_",
    _in_place(lambda x, y: x.index_fill_(1, AT[0](x), 7)),
    _in_place_oracle(lambda x, y: x.__setitem__((slice(None), AT[1]), 7)),
    ((2, 3), ()),
)
row(
    "scatter_",
    _in_place(lambda x, y: x.scatter_(1, AT[0](x).expand(2, 2), y)),
    _in_place_oracle(lambda x, y: x.__setitem__((slice(None), AT[1]), y)),
    ((2, 3), (2, 2)),
)
_ADDED = _in_place_oracle(lambda x, y: x.__setitem__((slice(None), AT[1]), x[:, AT[1]] + y))
row(
    "scatter_add_",
    _in_place(lambda x, y: x.scatter_add_(1, AT[0](x).expand(2, 2), y)),
    _ADDED,
    ((2, 3), (2, 2)),
)
row(
    "scatter_reduce_",
    _in_place(lambda x, y: x.scatter_reduce_(1, AT[0](x).expand(2, 2), y, "sum")),
    _ADDED,
    ((2, 3), (2, 2)),
)
row(
    "masked_scatter_",
    _in_place(lambda x, y: x.masked_scatter_(x > 0, y)),
    _in_place_oracle(lambda x, y: x.__setitem__(x > 0, y.reshape(-1)[: (x > 0).sum()])),
    ((2, 3), (2, 3)),
)
row(
    "index_put_",
    _in_place(lambda x, y: x.index_put_((AT[0](x), slice(1)), y, accumulate=True)),
    _in_place_oracle(lambda x, y: x.__setitem__((AT[1], slice(1)), x[AT[1], :1] + y)),
    ((3, 2), (2, 1)),
    torch=_in_place(lambda x, y: x.index_put_(places(x), y, accumulate=True)),
)
_MOVES: tuple[tuple[str, tuple[int, ...], Callable[..., Any]], ...] = (
    ("squeeze_", (1,), np.squeeze),
    ("unsqueeze_", (1,), np.expand_dims),
    ("transpose_", (0, -1), np.swapaxes),
    ("swapaxes_", (0, -1), np.swapaxes),
    ("swapdims_", (0, -1), np.swapaxes),
)
for _name, _dims, _oracle in _MOVES:
    row(
        _name,
        lambda x, n=_name, d=_dims: getattr(x.detach(), n)(*d),
        lambda x, f=_oracle, d=_dims: f(x, *d),
        ((2, 1, 3),),
    )
row(
    "index_reduce_",
    _in_place(lambda x, y: x.index_reduce_(1, AT[0](x), y, "amax")),
    _in_place_oracle(lambda x, y: x.__setitem__((slice(None), AT[1]), np.maximum(x[:, AT[1]], y))),
    ((2, 3), (2, 2)),
)
row(
    "put_",
    _in_place(lambda x, y: x.put_(AT[0](x), y)),
    _in_place_oracle(lambda x, y: x.put(AT[1], y)),
    ((2, 3), (2,)),
)
row(
    "apply_",
    _in_place(lambda x, y: x.apply_(lambda value: value * value)),
    lambda x, y: x * x,
    ((2, 3), ()),
    ((0,), ()),
)
refused("apply_", lambda x: x.apply_(str), TypeError, "returns is a number; '1.0'")
refused("apply_", lambda x: x.requires_grad_().apply_(abs), InPlaceError, "requires grad")
refused(
    "apply_",
    lambda x: x.to(mt.uint8).apply_(lambda value: -value),
    DTypeError,
    "integers from 0 to 255",
)
row("map_", _in_place(lambda x, y: x.map_(y, max)), np.maximum, ((2, 3), (3,)), ((2, 3), ()))
refused("map_", lambda x: x.map_(x.double(), max), DTypeError, "one dtype")
refused("map_", lambda x: x.map_(x.T, max), ShapeError, "sizes of 1")
refused("map_", lambda x: x.requires_grad_().map_(x, max), InPlaceError, "requires grad")
