"""Samples of changes in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_operators import OPERATORS
from mt_operators.testing import WHOLE_SPECS
from mt_tensor.core.dtype_rules import dtype_rules_of
from mt_tensor.errors import DTypeError, InPlaceError, ShapeError
from mt_tensor.testing.specs import at, places, refused, row, single


def _in_place(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def call(x: Any, y: Any) -> Any:
        result = x.detach().clone()
        change(result, y.detach())
        return result

    return call


row("add_", _in_place(lambda x, y: x.add_(y, alpha=2)), ((2, 3), (3,)))
refused("add_", lambda x: x.requires_grad_().add_(1), InPlaceError, "requires grad")
refused("add_", lambda x: x.long().add_(1.5), DTypeError, "cannot be stored in place in int64")
refused("add_", lambda x: x.expand(2, 2, 3).add_(1), InPlaceError, "repeats elements")
refused("add_", lambda x: x[0].add_(x), ShapeError, "does not broadcast to")
row("sub_", _in_place(lambda x, y: x.sub_(y)), ((2, 3), ()), dtypes="number")
row("mul_", _in_place(lambda x, y: x.mul_(y)), ((2, 3), (2, 1)))
row("div_", _in_place(lambda x, y: x.div_(y)), ((3,), (3,)), dtypes="float")
row("copy_", _in_place(lambda x, y: x.copy_(y)), ((2, 3), (3,)))
row("zero_", _in_place(lambda x, y: x.T.zero_()), ((2, 3), ()))
row("fill_", _in_place(lambda x, y: x[0].fill_(2)), ((2, 3), ()))


def _assign(x: Any, y: Any) -> None:
    x[:, ::2] = y
    x[0] += x[1]  # a view of the same storage on the right


row("setitem", _in_place(_assign), ((2, 3), (2, 2)), differentiable=False)


def _assign_picked(x: Any, y: Any) -> None:
    x[[0, 2], ::-1, [1, 0]] = y
    x[x < 0] = 7


row(
    "setitem",
    _in_place(_assign_picked),
    ((3, 2, 2), (2, 2)),
    ((3, 4, 2), (1, 4)),
    ((3, 0, 2), ()),
    differentiable=False,
    torch="it has no negative steps",
)


def _shifted(x: Any, _: Any) -> None:
    x[1:].add_(x[:-1])  # overlapping views: as if the right side were read first


row("add_", _in_place(_shifted), ((6,), ()), torch="it refuses memory that overlaps")


def _changed_by(name: str, *args: Any) -> Callable[..., Any]:
    """Return the call of a method that changes its tensor, with the arguments and no other."""
    return _in_place(lambda x, y: getattr(x, name)(*args))


def _operator_in_place(name: str) -> Callable[..., Any]:
    """Return the in-place form of an operator of the table."""
    arity, whole = OPERATORS[name].arity, name in WHOLE_SPECS

    def call(x: Any, y: Any) -> Any:
        x, y = ((each.long() if whole else each).detach().clone() for each in (x, y))
        return getattr(x, f"{name}_")(*(y, y + 1)[: arity - 1])

    return call


_STORED = {"real": "float", "number": "number", "integer": "index", "bool": "same"}
"""The element types that the results of an operator can be stored in, by the kind of the result."""

_ON_BOOL = ("clamp_max", "clamp_min", "sign")
"""Operators of numbers that truth values have, too."""

_WITHOUT_ZEROS = ("floor_divide", "fmod", "pow", "remainder")
"""Operators that are undefined for some whole numbers, zero or less."""

for _name in (name for name, operator in OPERATORS.items() if dtype_rules_of(operator).in_place):
    if _name in ("add", "sub", "mul", "div"):  # they have settings, and samples of their own
        continue
    row(
        _name + "_",
        _operator_in_place(_name),
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


_WITH_SETTINGS: tuple[tuple[str, str, Callable[[Any, Any], Any]], ...] = (
    ("addcdiv_", "float", lambda x, y: x.addcdiv_(y, y * y + 1)),
    ("addcmul_", "number", lambda x, y: x.addcmul_(y, y, value=2)),
    ("deg2rad_", "float", lambda x, y: x.deg2rad_()),
    ("frac_", "float", lambda x, y: x.frac_()),
    ("heaviside_", "same", lambda x, y: x.masked_fill_(x > 0, 0).heaviside_(y)),
    ("ldexp_", "float", lambda x, y: x.ldexp_(y)),
    ("logit_", "float", lambda x, y: x.sigmoid_().logit_()),
    ("nan_to_num_", "float", lambda x, y: x.log_().nan_to_num_(0.5)),
    ("rad2deg_", "float", lambda x, y: x.rad2deg_()),
    ("reciprocal_", "float", lambda x, y: x.reciprocal_()),
)
"""Changes in place by functions with settings: name, rule for dtypes, and call."""

for _name, _rule, _changes in _WITH_SETTINGS:
    row(_name, _in_place(_changes), ((2, 3), (3,)), ((0, 2), (2,)), dtypes=_rule)
row(
    "float_power_",
    lambda x: x.detach().clone().double().float_power_(3),
    *single((2, 3), (0,)),
    dtypes="double",
)
refused(
    "float_power_", lambda x: x.float_power_(2), DTypeError, "cannot be stored in place in float32"
)
row("remainder_", _in_place(_by_operators), ((2, 3), (3,)), dtypes="float")
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
for _name, _rule in {"subtract_": "number", "divide_": "float", "true_divide_": "float"}.items():
    _call = _in_place(lambda x, y, n=_name: getattr(x, n)(y))  # type: ignore[misc]
    row(_name, _call, ((2, 3), (3,)), dtypes=_rule)
row(
    "div_", _in_place(lambda x, y: x.div_(y, rounding_mode="floor")), ((2, 3), (3,)), dtypes="float"
)
row("multiply_", _in_place(lambda x, y: x.multiply_(y)), ((2, 3), (3,)))
for _name, _number in {"cumsum_": 0, "cumprod_": 0, "tril_": -1, "triu_": -1}.items():
    row(
        _name,
        _changed_by(_name, _number),
        ((2, 3), ()),
        ((2, 3, 2), ()),
        dtypes="number" if _name.startswith("cum") else "same",
    )
row(
    "fill_diagonal_",
    _in_place(lambda x, y: x.fill_diagonal_(7)),
    ((2, 3), ()),
    ((5, 2), ()),
    ((2, 2, 2), ()),
)
refused("fill_diagonal_", lambda x: x[0].fill_diagonal_(1), ShapeError, "needs a matrix")
row("masked_fill_", _in_place(lambda x, y: x.masked_fill_(y > 0, 7)), ((2, 3), (3,)))
row("index_add_", _in_place(lambda x, y: x.index_add_(1, at(x), y)), ((2, 3), (2, 2)))
row("index_copy_", _in_place(lambda x, y: x.index_copy_(1, at(x), y)), ((2, 3), (2, 2)))
row("index_fill_", _in_place(lambda x, y: x.index_fill_(1, at(x), 7)), ((2, 3), ()))
row("scatter_", _in_place(lambda x, y: x.scatter_(1, at(x).expand(2, 2), y)), ((2, 3), (2, 2)))
row(
    "scatter_add_",
    _in_place(lambda x, y: x.scatter_add_(1, at(x).expand(2, 2), y)),
    ((2, 3), (2, 2)),
)
row(
    "scatter_reduce_",
    _in_place(lambda x, y: x.scatter_reduce_(1, at(x).expand(2, 2), y, "sum")),
    ((2, 3), (2, 2)),
)
row("masked_scatter_", _in_place(lambda x, y: x.masked_scatter_(x > 0, y)), ((2, 3), (2, 3)))
row(
    "index_put_",
    _in_place(lambda x, y: x.index_put_((at(x), slice(1)), y, accumulate=True)),
    ((3, 2), (2, 1)),
    torch=_in_place(lambda x, y: x.index_put_(places(x), y, accumulate=True)),
)
_MOVES: dict[str, tuple[int, ...]] = {"squeeze_": (1,), "unsqueeze_": (1,)}
_MOVES |= dict.fromkeys(("transpose_", "swapaxes_", "swapdims_"), (0, -1))
for _name, _dims in _MOVES.items():
    row(_name, lambda x, n=_name, d=_dims: getattr(x.detach(), n)(*d), ((2, 1, 3),))
row("index_reduce_", _in_place(lambda x, y: x.index_reduce_(1, at(x), y, "amax")), ((2, 3), (2, 2)))
row("put_", _in_place(lambda x, y: x.put_(at(x), y)), ((2, 3), (2,)))
row(
    "apply_",
    _in_place(lambda x, y: x.apply_(lambda value: value * value)),
    ((2, 3), ()),
    ((0,), ()),
    oracle=lambda x, y: x * x,
)
refused("apply_", lambda x: x.apply_(str), TypeError, "returns must be a number; '1.0'")
refused("apply_", lambda x: x.requires_grad_().apply_(abs), InPlaceError, "requires grad")
refused(
    "apply_",
    lambda x: x.to(mt.uint8).apply_(lambda value: -value),
    DTypeError,
    "integers from 0 to 255",
)
row("map_", _in_place(lambda x, y: x.map_(y, max)), ((2, 3), (3,)), ((2, 3), ()), oracle=np.maximum)
refused("map_", lambda x: x.map_(x.double(), max), DTypeError, "one dtype")
refused("map_", lambda x: x.map_(x.T, max), ShapeError, "sizes of 1")
refused("map_", lambda x: x.requires_grad_().map_(x, max), InPlaceError, "requires grad")
