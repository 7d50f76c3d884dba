"""Samples of in-place operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_operators import OPERATORS
from mt_operators.testing import INTEGER_SPECS
from mt_tensor.core.dtype_rules import dtype_rules_of
from mt_tensor.testing.specs import Shapes, at, places, row, single


def _in_place(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def call(x: Any, y: Any) -> Any:
        result = x.detach().clone()
        change(result, y.detach())
        return result

    return call


def _changed(name: str, change: Callable[[Any, Any], Any], *samples: Shapes, **rest: Any) -> None:
    """Add a row of an operation that changes its first argument; see `row`."""
    row(name, _in_place(change), *(samples or (((2, 3), (3,)),)), **rest)


# --- Operators of the table ---------------------------------------------------------------------


def _operator_in_place(name: str) -> Callable[..., Any]:
    """Return the in-place form of an operator of the table."""
    arity, is_integer = OPERATORS[name].arity, name in INTEGER_SPECS

    def call(x: Any, y: Any) -> Any:
        x, y = ((each.long() if is_integer else each).detach().clone() for each in (x, y))
        return getattr(x, f"{name}_")(*(y, y + 1)[: arity - 1])

    return call


_STORED = {"real": "float", "number": "number", "integer": "index", "bool": "same"}
"""The rule for the dtypes that can store an operator's results, by `Operator.result`."""

_ON_BOOL = ("clamp_max", "clamp_min", "sign")
"""The operators of numbers that also accept bool."""

_WITHOUT_ZEROS = ("floor_divide", "fmod", "pow", "remainder")
"""The operators that are undefined for some integers, such as 0 and negative ones."""

for _name in (name for name, operator in OPERATORS.items() if dtype_rules_of(operator).in_place):
    if _name in ("add", "sub", "mul", "div"):  # these have their own samples below
        continue
    row(
        _name + "_",
        _operator_in_place(_name),
        *(((2, 3), (3,)), ((4,), ()), ((0, 2), (2,))),
        positive=_name in _WITHOUT_ZEROS,
        dtypes="same" if _name in _ON_BOOL else _STORED[OPERATORS[_name].result],
        torch="torch has only reciprocal_" if _name == "inv" else "",
    )


def _by_operators(x: Any, y: Any) -> None:
    x //= 2
    x **= 2
    x %= y


_changed("remainder_", _by_operators, dtypes="float")
_changed("add_", lambda x, y: x.add_(y, alpha=2))
_changed(
    "add_",
    lambda x, y: x[1:].add_(x[:-1]),  # overlapping views: the right side is read first
    ((6,), ()),
    torch="torch rejects overlapping memory",
)
_changed("sub_", lambda x, y: x.sub_(y), ((2, 3), ()), dtypes="number")
_changed("subtract_", lambda x, y: x.subtract_(y), dtypes="number")
_changed("mul_", lambda x, y: x.mul_(y), ((2, 3), (2, 1)))
_changed("multiply_", lambda x, y: x.multiply_(y))
_changed("div_", lambda x, y: x.div_(y), ((3,), (3,)), dtypes="float")
_changed("div_", lambda x, y: x.div_(y, rounding_mode="floor"), dtypes="float")
_changed("divide_", lambda x, y: x.divide_(y), dtypes="float")
_changed("true_divide_", lambda x, y: x.true_divide_(y), dtypes="float")

# --- Operations with settings -------------------------------------------------------------------

_SOME: tuple[Shapes, ...] = (((2, 3), (3,)), ((0, 2), (2,)))
_changed("addcdiv_", lambda x, y: x.addcdiv_(y, y * y + 1), *_SOME, dtypes="float")
_changed("addcmul_", lambda x, y: x.addcmul_(y, y, value=2), *_SOME, dtypes="number")
_changed("deg2rad_", lambda x, y: x.deg2rad_(), *_SOME, dtypes="float")
_changed("frac_", lambda x, y: x.frac_(), *_SOME, dtypes="float")
_changed("heaviside_", lambda x, y: x.masked_fill_(x > 0, 0).heaviside_(y), *_SOME)
_changed("ldexp_", lambda x, y: x.ldexp_(y), *_SOME, dtypes="float")
_changed("logit_", lambda x, y: x.sigmoid_().logit_(), *_SOME, dtypes="float")
_changed("nan_to_num_", lambda x, y: x.log_().nan_to_num_(0.5), *_SOME, dtypes="float")
_changed("nextafter_", lambda x, y: x.nextafter_(y), *_SOME, dtypes="float", optional=True)
_changed("rad2deg_", lambda x, y: x.rad2deg_(), *_SOME, dtypes="float")
_changed("reciprocal_", lambda x, y: x.reciprocal_(), *_SOME, dtypes="float")
row(
    "float_power_",
    lambda x: x.detach().clone().double().float_power_(3),
    *single((2, 3), (0,)),
    dtypes="double",
)

# --- Copies and single numbers ------------------------------------------------------------------

_changed("copy_", lambda x, y: x.copy_(y))
_changed("zero_", lambda x, y: x.T.zero_())
_changed("fill_", lambda x, y: x[:1].fill_(2))
_WIDE_AND_TALL: tuple[Shapes, ...] = (((2, 3), ()), ((5, 2), ()), ((2, 2, 2), ()))
_changed("fill_diagonal_", lambda x, y: x.fill_diagonal_(7), *_WIDE_AND_TALL)
_changed("masked_fill_", lambda x, y: x.masked_fill_(y > 0, 7))
_changed("apply_", lambda x, y: x.apply_(lambda v: v * v), *_SOME, oracle=lambda x, y: x * x)
_changed("map_", lambda x, y: x.map_(y, max), ((2, 3), (3,)), ((2, 3), ()), oracle=np.maximum)

# --- Along a dimension --------------------------------------------------------------------------

_MATRICES: tuple[Shapes, ...] = (((2, 3), ()), ((2, 3, 2), ()))
_changed("cumsum_", lambda x, y: x.cumsum_(0), *_MATRICES, dtypes="number")
_changed("cumprod_", lambda x, y: x.cumprod_(0), *_MATRICES, dtypes="number")
_changed("tril_", lambda x, y: x.tril_(-1), *_MATRICES)
_changed("triu_", lambda x, y: x.triu_(-1), *_MATRICES)
_MOVES: dict[str, tuple[int, ...]] = {"squeeze_": (1,), "unsqueeze_": (1,)}
_MOVES |= dict.fromkeys(("transpose_", "swapaxes_", "swapdims_"), (0, -1))
for _name, _dims in _MOVES.items():
    row(_name, lambda x, n=_name, d=_dims: getattr(x.detach(), n)(*d), ((2, 1, 3),))

# --- By index -----------------------------------------------------------------------------------

_SLICES: Shapes = ((2, 3), (2, 2))
_changed("index_add_", lambda x, y: x.index_add_(1, at(x), y), _SLICES)
_changed("index_copy_", lambda x, y: x.index_copy_(1, at(x), y), _SLICES)
_changed("index_fill_", lambda x, y: x.index_fill_(1, at(x), 7), _SLICES)
_changed("index_reduce_", lambda x, y: x.index_reduce_(1, at(x), y, "amax"), _SLICES)
_changed("scatter_", lambda x, y: x.scatter_(1, at(x).expand(2, 2), y), _SLICES)
_changed("scatter_add_", lambda x, y: x.scatter_add_(1, at(x).expand(2, 2), y), _SLICES)
_changed(
    "scatter_reduce_", lambda x, y: x.scatter_reduce_(1, at(x).expand(2, 2), y, "sum"), _SLICES
)
_changed("masked_scatter_", lambda x, y: x.masked_scatter_(x > 0, y), ((2, 3), (2, 3)))
_changed(
    "index_put_",
    lambda x, y: x.index_put_((at(x), slice(1)), y, accumulate=True),
    ((3, 2), (2, 1)),
    torch=_in_place(lambda x, y: x.index_put_(places(x), y, accumulate=True)),
)
_changed("put_", lambda x, y: x.put_(at(x), y), ((2, 3), (2,)))


def _assign(x: Any, y: Any) -> None:
    x[:, ::2] = y
    x[0] += x[1]  # the right side is a view of the same storage


def _assign_picked(x: Any, y: Any) -> None:
    x[[0, 2], ::-1, [1, 0]] = y
    x[x < 0] = 7


_changed("setitem", _assign, _SLICES, differentiable=False)
_changed(
    "setitem",
    _assign_picked,
    *(((3, 2, 2), (2, 2)), ((3, 4, 2), (1, 4)), ((3, 0, 2), ())),
    differentiable=False,
    torch="torch has no negative steps",
)
