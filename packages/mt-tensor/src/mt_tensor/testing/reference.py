"""The operations in NumPy, which compute the expected value of a sample's expression.

`reference(call)` runs a call of the tables on arrays. Operations are the functions of this module,
or NumPy's functions of the same name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mt_operators import OPERATORS
from mt_operators.testing import INTEGER_SPECS, SPECS
from mt_tensor.testing.libraries import with_library

Meaning = Callable[..., Any]


class Pair(NamedTuple):
    """Values along a dimension and their indices."""

    values: Any
    indices: Any


class MinMax(NamedTuple):
    """The minimum and the maximum."""

    min: Any
    max: Any


class Reference(np.ndarray):
    """An array with the methods of a tensor."""

    backend = None

    def __getattr__(self, name: str) -> Any:
        """Return NumPy's function as a method, which is in-place if the name ends with `_`."""
        if name.startswith("_"):
            raise AttributeError(name)
        if not name.endswith("_"):
            return functools.partial(on_arrays(getattr(np, name)), self)

        def change(*args: Any, **settings: Any) -> Any:
            result = getattr(self, name[:-1])(*args, **settings)
            if name[:-1] in _MOVES:
                return result
            if result.shape != self.shape:
                raise ValueError(f"shape {result.shape} cannot be stored in {self.shape}")
            if "bif".index(result.dtype.kind) > "bif".index(self.dtype.kind):
                raise TypeError(f"{result.dtype} cannot be stored in {self.dtype}")
            self[...] = result
            return self

        return change

    def __getitem__(self, key: Any) -> Any:
        """Return a view, even of a single element, or a copy if an index is a list or an array."""
        return _wrapped(np.asarray(self)[_of_view(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to the elements of an index."""
        np.asarray(self)[_of_view(key)] = value

    @property
    def H(self) -> Any:  # noqa: N802
        """The transposed matrix."""
        return self.T

    @property
    def mH(self) -> Any:  # noqa: N802
        """The transposed matrices."""
        return self.mT


def _wrapped(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value).view(Reference)
    if isinstance(value, (tuple, list)):
        parts = map(_wrapped, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _of_view(key: Any) -> Any:
    keys = [_plain(each) for each in (key if isinstance(key, tuple) else (key,))]
    keys = [np.array(each, np.int64) if type(each) is list and not each else each for each in keys]
    return (*keys, *([] if any(each is Ellipsis for each in keys) else [...]))


def _plain(value: Any) -> Any:
    if isinstance(value, Reference):
        return np.asarray(value)
    return type(value)(map(_plain, value)) if isinstance(value, (tuple, list)) else value


def on_arrays(meaning: Meaning) -> Meaning:
    """Convert a function of NumPy arrays to a function of `Reference` arrays."""

    def operation(*args: Any, **settings: Any) -> Any:
        given = {name: _plain(value) for name, value in settings.items()}
        return _wrapped(meaning(*map(_plain, args), **given))

    return operation


class Library:
    """The library that a call uses as `mt`: the given functions and NumPy's."""

    linalg: Library

    def __init__(self, meanings: dict[str, Meaning], others: Any) -> None:
        self._meanings, self._others = meanings, others

    def __getattr__(self, name: str) -> Any:
        """Return a function or dtype by name."""
        found = self._meanings.get(name) or getattr(self._others, name)
        return found if isinstance(found, type) else on_arrays(found)


def reference(call: Callable[..., Any]) -> Callable[..., Any]:
    """Convert a function of tensors to the same function of NumPy arrays."""

    @functools.cache
    def translated() -> Callable[..., Any]:
        return with_library(call, LIBRARY)

    def oracle(*arrays: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(translated()(*map(_wrapped, arrays)))

    return oracle


# --- Functions used by several operations --------------------------------------------------------

_UFUNCS: dict[Any, Any] = {
    **dict.fromkeys(("sum", "add", "mean"), np.add),
    **dict.fromkeys(("prod", "multiply"), np.multiply),
    "amax": np.maximum,
    "amin": np.minimum,
}
_FIRST = {"prod": 1.0, "amax": -np.inf, "amin": np.inf}
_MOVES = ("squeeze", "unsqueeze", "transpose", "swapaxes", "swapdims", "t")
_ROUNDINGS: dict[Any, Any] = {None: np.positive, "floor": np.floor, "trunc": np.trunc}


def _fold(function: Meaning) -> Meaning:
    return lambda x, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)


def _extreme(function: Meaning, of_two: Meaning, index_of: Meaning) -> Meaning:
    def extreme(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, np.ndarray):
            return of_two(x, dim)
        values = function(x, dim, keepdims=keepdim)
        return values if dim is None else Pair(values, index_of(x, dim, keepdims=keepdim))

    return extreme


def _running(ufunc: Any) -> Meaning:
    return lambda x, dim: ufunc.accumulate(x, dim) if x.ndim else x


def _sort(x: Any, dim: int = -1, descending: bool = False) -> Any:
    sign = -1 if descending else 1
    return Pair(sign * np.sort(sign * x, dim), np.argsort(sign * x, dim)) if x.ndim else Pair(x, 0)


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True) -> Any:
    return Pair(*(np.take(each, range(k), dim) for each in _sort(x, dim, largest)))


def _median(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    values = np.quantile(x, 0.5, dim, method="lower", keepdims=keepdim)
    return values if dim is None else Pair(values, None)


def _variance(x: Any, dim: Any = None, unbiased: bool = True, correction: int | None = None) -> Any:
    return x.var(dim, ddof=int(unbiased) if correction is None else correction)


def _std(x: Any, *args: Any, **settings: Any) -> Any:
    return np.sqrt(_variance(x, *args, **settings))


def _norm(x: Any, p: float = 2, dim: Any = None, keepdim: bool = False) -> Any:
    return np.linalg.norm(x if dim is not None else x.ravel(), p, dim or 0, keepdims=keepdim)


def _softmax(x: Any, dim: int) -> Any:
    weights = np.exp(x - x.max(dim, keepdims=True, initial=-np.inf))
    return weights / weights.sum(dim, keepdims=True)


def _cat(parts: Any, dim: int = 0) -> Any:
    return np.concatenate([x for x in parts if x.shape != (0,)] or parts, dim)


def _split(x: Any, size: Any, dim: int = 0) -> Any:
    if isinstance(size, list):
        return np.split(x, np.cumsum(size), dim)[: len(size)]
    return np.split(x, range(size, x.shape[dim], size), dim)


def _slice(x: Any, dim: int, *ends: int | None) -> Any:
    return x[(*(slice(None),) * (dim % x.ndim), slice(*ends))]


def _narrow(x: Any, dim: int, start: int, length: int) -> Any:
    return _slice(x, dim, start, start + length or None)


def _view(x: Any, *shape: Any) -> Any:
    view = x.view()
    view.shape = shape[0] if isinstance(shape[0], tuple) else shape
    return view


def _diagonal(x: Any, *where: int) -> Any:
    view = np.diagonal(x, *where)
    view.flags.writeable = True
    return view


def _windows(x: Any, dim: int, size: int, step: int) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dim, writeable=True)
    return _slice(windows, dim % x.ndim, None, None, step)


def _expand(x: Any, *shape: int) -> Any:
    kept = (1,) * (len(shape) - x.ndim) + x.shape
    shape = tuple(k if n == -1 else n for n, k in zip(shape, kept, strict=True))
    strides = np.broadcast_to(x, shape).strides
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def _squeeze(x: Any, dim: Any = None) -> Any:
    dims = range(x.ndim) if dim is None else np.atleast_1d(dim)
    return np.squeeze(x, tuple(d for d in dims if x.shape[d] == 1))


def _put(x: Any, key: Any, y: Any, reduce: str | None = None, include_self: bool = True) -> Any:
    """Return x with a source stored at a key, or combined with the elements there."""
    out, count = np.array(x), np.ones(x.shape)
    if reduce is None:
        out[key] = y
        return out
    if not include_self:
        out[key], count[key] = _FIRST.get(reduce, 0.0), 0
    _UFUNCS[reduce].at(out, key, y)
    np.add.at(count, key, 1)
    return out / count if reduce == "mean" else out


def _put_flat(x: Any, at: Any, y: Any, accumulate: bool = False) -> Any:
    return _put(x.ravel(), at.ravel(), y, "sum" if accumulate else None).reshape(x.shape)


def _put_slices(x: Any, dim: int, index: Any, y: Any, *settings: Any, **others: Any) -> Any:
    return _put(x, (*(slice(None),) * (dim % x.ndim), index), y, *settings, **others)


def _scatter(x: Any, dim: int, index: Any, y: Any, *settings: Any, **others: Any) -> Any:
    at: list[Any] = [*np.indices(index.shape)]
    y = np.broadcast_to(y, np.shape(y) or index.shape)[tuple(at)]
    at[dim] = index
    return _put(x, tuple(at), y, *settings, **others)


def _gather(x: Any, dim: int, index: Any) -> Any:
    at: list[Any] = [*np.indices(index.shape)]
    at[dim] = index
    return x[tuple(at)]


def _masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    x, mask = np.broadcast_arrays(x, mask)
    return _put(x, mask, source.ravel()[: mask.sum()])


def _fill_diagonal(x: Any, value: float) -> Any:
    out = np.array(x)
    np.fill_diagonal(out, value)
    return out


def _diag_embed(x: Any, offset: int = 0) -> Any:
    pads = [(0, 0)] * (x.ndim - 1) + [(0, offset), (offset, 0)]
    return np.pad(x[..., None] * np.eye(x.shape[-1]), pads)


def _solve(a: Any, b: Any, left: bool = True) -> Any:
    if not left:
        return b @ np.linalg.inv(a)
    return _solve(a, b[..., None])[..., 0] if b.shape == a.shape[:-1] else np.linalg.solve(a, b)


def _lu_factor(a: Any) -> Any:
    """Return L and U in one matrix, and row numbers from 1, by Gaussian elimination."""
    if a.ndim > 2:
        return tuple(map(np.stack, zip(*map(_lu_factor, a), strict=True)))
    a, pivots = np.array(a), []
    for i in range(min(a.shape)):
        row = i + int(np.argmax(abs(a[i:, i])))
        a[[i, row]] = a[[row, i]]
        a[i + 1 :, i] /= a[i, i]
        a[i + 1 :, i + 1 :] -= np.outer(a[i + 1 :, i], a[i, i + 1 :])
        pivots.append(row + 1)
    return a, np.array(pivots)


def _lu_unpack(packed: Any, pivots: Any) -> Any:
    if packed.ndim > 2:
        parts = [_lu_unpack(*each) for each in zip(packed, pivots, strict=True)]
        return tuple(np.stack(each) for each in zip(*parts, strict=True))
    k = min(packed.shape)
    lower, upper = np.tril(packed[:, :k], -1) + np.eye(len(packed), k), np.triu(packed[:k])
    swapped = np.eye(len(packed))
    for i, row in enumerate(pivots):
        swapped[[i, row - 1]] = swapped[[row - 1, i]]
    return swapped.T, lower, upper


def _lu_solve(packed: Any, pivots: Any, b: Any, left: bool = True, adjoint: bool = False) -> Any:
    p, lower, upper = _lu_unpack(packed, pivots)
    a = p @ lower @ upper
    return _solve(a.mT if adjoint else a, b[None] if b.ndim < a.ndim else b, left)


def _lstsq(a: Any, b: Any, **_: Any) -> Any:
    columns = b[..., None] if b.ndim < a.ndim else b
    x = np.linalg.pinv(a) @ columns
    return x[..., 0] if b.ndim < a.ndim else x, np.square(a @ x - columns).sum(-2)


def _solve_triangular(
    a: Any, b: Any, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    triangle = np.triu(a) if upper else np.tril(a)
    return _solve(np.where(np.eye(len(a.T)) * unitriangular, 1, triangle), b, left)


def _areas(y: Any, x: Any = None) -> Any:
    return np.cumsum((y[..., 1:] + y[..., :-1]) / 2 * (1 if x is None else np.diff(x)), -1)


def _added(product: Meaning) -> Meaning:
    return lambda x, a, b, beta=1, alpha=1: (beta * x if beta else 0) + alpha * product(a, b)


# --- The operations -----------------------------------------------------------------------------

ROWS: dict[str, Meaning] = {
    name: functools.partial(oracle, np)
    for row, oracle in [*((n, spec.oracle) for n, spec in SPECS.items()), *INTEGER_SPECS.items()]
    for name in (row, *OPERATORS[row].aliases)
}
"""The functions of the operator table."""

MEANINGS: dict[str, Meaning] = {
    **ROWS,
    # Elements
    "add": lambda x, y, alpha=1: x + y if alpha == 1 else x + alpha * y,
    **dict.fromkeys(("sub", "subtract"), lambda x, y, alpha=1: x - alpha * y),
    "div": lambda x, y, rounding_mode=None: _ROUNDINGS[rounding_mode](x / y),
    "pow": lambda input, exponent: np.power(np.asarray(input, float), exponent),
    "ldexp": lambda x, y: x * 2.0**y,
    "addcmul": lambda x, y, z, value=1: x + value * y * z,
    "addcdiv": lambda x, y, z, value=1: x + value * y / z,
    **dict.fromkeys(("clamp", "clip"), lambda x, min=None, max=None: np.clip(x, min, max)),
    "frac": lambda x: np.fmod(x, 1),
    "nan_to_num": lambda x, nan=0.0: np.nan_to_num(x, nan=nan),
    "logit": lambda x, eps=0: np.log(np.clip(x, eps, 1 - eps) / (1 - np.clip(x, eps, 1 - eps))),
    "gelu": lambda x, approximate="": ROWS["gelu_tanh" if approximate == "tanh" else "gelu"](x),
    "glu": lambda x, dim: np.split(x, 2, dim)[0] * ROWS["sigmoid"](np.split(x, 2, dim)[1]),
    "softplus": lambda x, k=1, top=20: np.where(k * x > top, x, np.logaddexp(k * x, 0) / k),
    "leaky_relu": lambda x, slope=0.01: np.where(x > 0, x, slope * x),
    "threshold": lambda x, threshold, value: np.where(x > threshold, x, value),
    "hardshrink": lambda x: np.where(abs(x) > 0.5, x, 0),
    "softshrink": lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0),
    "tanhshrink": lambda x: x - np.tanh(x),
    "equal": np.array_equal,
    "where": lambda x, condition, y: np.where(condition, x, y),
    "masked_fill": lambda x, mask, value: np.where(mask, value, x),
    # Conversions and copies
    "tensor": lambda x, dtype=None, backend=None: np.array(x, dtype),
    "clone": np.array,
    "detach": lambda x: x,
    "contiguous": lambda x: x if x.flags.c_contiguous else np.array(x, order="C"),
    "long": lambda x: x.astype(np.int64),
    **dict.fromkeys(("double", "float"), lambda x: x.astype(np.float64)),
    "to": lambda x, dtype: x.astype(dtype, copy=False),
    "numel": np.size,
    "copy": lambda x, y: np.broadcast_to(y, x.shape),
    "fill": np.full_like,
    "zero": np.zeros_like,
    # Shapes
    "view": _view,
    "flatten": lambda x, start: x.reshape(*x.shape[:start], -1),
    "permute": lambda x, *dims: x.transpose(*dims),
    **dict.fromkeys(("transpose", "swapdims", "swapaxes"), np.swapaxes),
    "t": np.transpose,
    "adjoint": lambda x: x.mT,
    "expand": _expand,
    "unfold": _windows,
    "as_strided": lambda x, shape, steps: np.lib.stride_tricks.as_strided(
        x, shape, [step * x.itemsize for step in steps]
    ),
    "expand_as": lambda x, y: np.broadcast_to(x, y.shape),
    **dict.fromkeys(("reshape_as", "view_as"), lambda x, y: x.reshape(y.shape)),
    "broadcast_tensors": np.broadcast_arrays,
    "squeeze": _squeeze,
    "unsqueeze": np.expand_dims,
    "repeat": lambda x, *times: np.tile(x, times),
    "repeat_interleave": np.repeat,
    "movedim": np.moveaxis,
    "unflatten": lambda x, dim, sizes: x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :]),
    **dict.fromkeys(("narrow", "narrow_copy"), _narrow),
    "select": lambda x, dim, index: np.take(x, index, dim),
    "unbind": lambda x, dim: [*np.moveaxis(x, dim, 0)],
    "diagonal": _diagonal,
    "diag_embed": _diag_embed,
    "fill_diagonal": _fill_diagonal,
    **dict.fromkeys(("cat", "concat", "concatenate"), _cat),
    "row_stack": np.vstack,
    **dict.fromkeys(("split", "split_with_sizes"), _split),
    "chunk": lambda x, count, dim: _split(x, -(-x.shape[dim] // count), dim),
    "tensor_split": np.array_split,
    # Reading and writing by index
    "gather": _gather,
    "take_along_dim": np.take_along_axis,
    "index_select": lambda x, dim, index: np.take(x, index, dim),
    "take": lambda x, index: np.ravel(x)[index],
    "nonzero": np.argwhere,
    "masked_select": lambda x, mask: x[np.broadcast_to(mask, x.shape)],
    "one_hot": lambda x, count: np.eye(count)[x],
    "scatter": _scatter,
    "scatter_reduce": _scatter,
    "scatter_add": functools.partial(_scatter, reduce="sum"),
    "index_add": lambda x, dim, at, y, alpha=1: _put_slices(x, dim, at, alpha * y, "sum"),
    **dict.fromkeys(("index_copy", "index_fill", "index_reduce"), _put_slices),
    "masked_scatter": _masked_scatter,
    "index_put": lambda x, key, y, accumulate: _put(x, key, y, "sum" if accumulate else None),
    "put": _put_flat,
    # Folds
    **{name: _fold(getattr(np, name)) for name in ("sum", "mean", "prod", "all", "any")},
    **{name: _fold(getattr(np, name)) for name in ("amax", "amin", "argmax", "argmin", "nansum")},
    "max": _extreme(np.max, np.maximum, np.argmax),
    "min": _extreme(np.min, np.minimum, np.argmin),
    "aminmax": lambda x, dim=None: MinMax(x.min(dim), x.max(dim)),
    "var": _variance,
    "std": _std,
    "var_mean": lambda x, *args: (_variance(x, *args), x.mean(args[0])),
    "std_mean": lambda x, *args: (_std(x, *args), x.mean(args[0])),
    "norm": _norm,
    "dist": lambda x, y: _norm(x - y),
    "logsumexp": lambda x, dim, keepdim=False: np.log(np.exp(x).sum(dim, keepdims=keepdim)),
    "softmax": _softmax,
    "log_softmax": lambda x, dim: np.log(_softmax(x, dim)),
    "softmin": lambda x, dim: _softmax(-x, dim),
    "sum_to_size": lambda x, *shape: x.reshape(-1, *shape).sum(0),
    # Order
    "cumsum": lambda x, dim: np.cumsum(x, dim).reshape(x.shape),
    "cumprod": lambda x, dim: np.cumprod(x, dim).reshape(x.shape),
    "logcumsumexp": _running(np.logaddexp),
    "cummax": lambda x, dim: Pair(_running(np.maximum)(x, dim), None),
    "cummin": lambda x, dim: Pair(_running(np.minimum)(x, dim), None),
    "sort": _sort,
    "msort": lambda x: np.sort(x, 0),
    "topk": _topk,
    "kthvalue": lambda x, k: Pair(np.sort(x)[..., k - 1], None),
    "median": _median,
    "quantile": lambda x, q, dim=None, interpolation="linear": np.quantile(
        x, q, dim, method=interpolation
    ),
    "histc": lambda x, bins, *ends: np.histogram(x, bins, ends or None)[0],
    "trapezoid": lambda y, x=None, dx=1, dim=-1: np.trapezoid(y, x, dx, dim),
    "trapz": lambda y, dx, dim: np.trapezoid(y, None, dx, dim),
    "cumulative_trapezoid": _areas,
    "searchsorted": lambda x, y, right: np.searchsorted(x, y, "right" if right else "left"),
    "bucketize": lambda x, edges, right: np.digitize(x, edges, right=not right),
    # Products
    **dict.fromkeys(("mm", "mv", "bmm", "chain_matmul"), np.matmul),
    "ger": np.outer,
    "cross": lambda x, y, dim=0: np.cross(x, y, axis=dim),
    "cov": lambda x, correction=1, **weights: np.cov(x, ddof=correction, **weights),
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), _added(np.matmul)),
    "addr": _added(np.outer),
    "addbmm": _added(lambda a, b: np.matmul(a, b).sum(0)),
    "lu_unpack": _lu_unpack,
    "inverse": np.linalg.inv,
    "pinverse": np.linalg.pinv,
    "logdet": lambda x: np.log(np.linalg.det(x)),
    **{name: getattr(np.linalg, name) for name in ("det", "slogdet", "matrix_power")},
}
"""The functions whose name or meaning differs from NumPy's."""

IN_LINALG: dict[str, Meaning] = {
    "matrix_norm": lambda x, ord, dim=(-2, -1), keepdim=False: np.linalg.norm(x, ord, dim, keepdim),
    "vector_norm": lambda x, p=2, dim=None, keepdim=False, dtype=None: _norm(x, p, dim, keepdim),
    "vecdot": lambda x, y, dim: (x * y).sum(dim),
    "solve": _solve,
    "solve_triangular": _solve_triangular,
    "lu": lambda x: _lu_unpack(*_lu_factor(x)),
    "lu_factor": _lu_factor,
    "lu_solve": _lu_solve,
    "lstsq": _lstsq,
    "vander": lambda x, N: x[..., None] ** np.arange(N),
    "diagonal": lambda x, offset: np.diagonal(x, offset, -2, -1),
}
"""The functions of `linalg` whose name or meaning differs from that of `np.linalg`."""

for _name, _meaning in MEANINGS.items():
    setattr(Reference, _name, on_arrays(_meaning))

LIBRARY = Library({**MEANINGS, "where": np.where}, np)
LIBRARY.linalg = Library(IN_LINALG, np.linalg)
