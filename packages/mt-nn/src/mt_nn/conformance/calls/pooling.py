"""Pooling: windows, parts, and the way back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.calls.convolution import each
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array

Windows = list[list[list[int]]]
"""For each dimension the elements that each window sees; those beyond the input are padding."""


def _windows(
    extents: tuple[int, ...], kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> Windows:
    dims = len(extents)
    every = zip(
        extents,
        *(each(value, dims) for value in (kernel_size, stride or kernel_size, padding, dilation)),
        strict=True,
    )
    found = []
    for extent, size, step, margin, spread in every:
        span = spread * (size - 1)
        starts = range(-margin, extent + margin, step)
        whole = [start for start in starts if start + span < extent + margin]
        begun = [s for s in starts if s < extent and (not whole or s > whole[-1])][:1]
        left = len(whole) == 0 or whole[-1] + span < extent + margin - 1
        starts_used = whole + (begun if ceil and left else [])
        found.append([[s + spread * tap for tap in range(size)] for s in starts_used])
    return found


def _parts(extents: tuple[int, ...], output_size: Any) -> Windows:
    dims = len(extents)
    sizes = output_size if isinstance(output_size, tuple | list) else (output_size,) * dims
    return [
        [list(range(i * e // n, math.ceil((i + 1) * e / n))) for i in range(n)]
        for e, n in zip(extents, (n or e for n, e in zip(sizes, extents, strict=True)), strict=True)
    ]


def _seen(extents: tuple[int, ...], windows: Windows) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the place of each window, and the places within the input that it sees."""
    for window in itertools.product(*map(range, map(len, windows))):
        taps = [windows[dim][i] for dim, i in enumerate(window)]
        inside = [[t for t in ts if 0 <= t < e] for ts, e in zip(taps, extents, strict=True)]
        yield window, list(itertools.product(*inside))


def _pooled(x: Array, windows: Windows, fold: Callable[[Array], Array]) -> Array:
    extents = x.shape[-len(windows) :]
    out = np.zeros((*x.shape[: -len(windows)], *map(len, windows)))
    for window, places in _seen(extents, windows):
        out[(..., *window)] = fold(np.stack([x[(..., *place)] for place in places], -1))
    return out


def _places(x: Array, windows: Windows) -> Array:
    extents = x.shape[-len(windows) :]
    out = np.zeros((*x.shape[: -len(windows)], *map(len, windows)), np.int64)
    for window, places in _seen(extents, windows):
        flat = np.array([np.ravel_multi_index(place, extents) for place in places])
        out[(..., *window)] = flat[np.stack([x[(..., *p)] for p in places], -1).argmax(-1)]
    return out


def _largest(x: Array, windows: Windows, return_indices: bool) -> Any:
    values = _pooled(x, windows, lambda seen: seen.max(-1))
    return (values, _places(x, windows)) if return_indices else values


def _max_pool(dims: int) -> Callable[..., Any]:
    def oracle(
        x: Array,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        settings = (kernel_size, stride, padding, dilation, ceil_mode)
        return _largest(x, _windows(x.shape[-dims:], *settings), return_indices)

    return oracle


def _avg_pool(dims: int) -> Callable[..., Array]:
    def oracle(
        x: Array,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Array:
        extents, margins = x.shape[-dims:], each(padding, dims)
        windows = _windows(extents, kernel_size, stride, padding, 1, ceil_mode)
        sums = _pooled(x, windows, lambda seen: seen.sum(-1))
        edges = margins if count_include_pad else (0,) * dims
        counts: Any = 1.0
        for taps, extent, edge in zip(windows, extents, edges, strict=True):
            inside = [sum(-edge <= tap < extent + edge for tap in ts) for ts in taps]
            counts = np.multiply.outer(counts, np.array(inside, float))
        return sums / (counts if divisor_override is None else divisor_override)

    return oracle


def _lp_pool(dims: int) -> Callable[..., Array]:
    def oracle(
        x: Array, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Array:
        windows = _windows(x.shape[-dims:], kernel_size, stride, 0, 1, ceil_mode)
        if math.isinf(norm_type):
            fold = np.max if norm_type > 0 else np.min
            return _pooled(abs(x), windows, lambda seen: fold(seen, axis=-1))
        means = _pooled(x**norm_type, windows, lambda seen: seen.mean(-1))
        return (abs(means) * math.prod(each(kernel_size, dims))) ** (1 / norm_type)

    return oracle


def _adaptive_avg_pool(dims: int) -> Callable[..., Array]:
    return lambda x, output_size: _pooled(
        x, _parts(x.shape[-dims:], output_size), lambda seen: seen.mean(-1)
    )


def _adaptive_max_pool(dims: int) -> Callable[..., Any]:
    return lambda x, output_size, return_indices=False: _largest(
        x, _parts(x.shape[-dims:], output_size), return_indices
    )


def _unpool(dims: int) -> Callable[..., Array]:
    def oracle(
        x: Array,
        indices: Array,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Array:
        if output_size is None:
            settings = (each(v, dims) for v in (kernel_size, stride or kernel_size, padding))
            every = zip(x.shape[-dims:], *settings, strict=True)
            output_size = [(e - 1) * s + k - 2 * p for e, k, s, p in every]
        outer = x.shape[:-dims]
        out = np.zeros((math.prod(outer), math.prod(output_size[-dims:])))
        for row, places, values in zip(
            out, indices.reshape(len(out), -1), x.reshape(len(out), -1), strict=True
        ):
            row[places] = values
        return out.reshape(*outer, *output_size[-dims:])

    return oracle


def _both(name: str, dims: int, make: Callable[[int], Any], x: Array, **settings: Any) -> Any:
    """Yield the rows of a layer and of its function."""
    function = {
        "MaxPool": "max_pool", "AvgPool": "avg_pool", "LPPool": "lp_pool",
        "AdaptiveAvgPool": "adaptive_avg_pool", "AdaptiveMaxPool": "adaptive_max_pool",
    }[name]  # fmt: skip
    for called in (f"{name}{dims}d", f"functional.{function}{dims}d"):
        yield call(called, x, oracle=make(dims), **settings)


def _unpooling(dims: int, shape: tuple[int, ...], size: int, **settings: Any) -> Any:
    """Yield the rows of a layer and of its function, for places that all differ."""
    x = draw(*shape)
    planes, each_plane = math.prod(shape[:-dims]), math.prod(shape[-dims:])
    orders = np.random.default_rng(3).random((planes, size)).argsort(1)
    indices = orders[:, :each_plane].reshape(shape)
    options = {"output_size": settings.pop("output_size")} if "output_size" in settings else {}
    name = f"MaxUnpool{dims}d"
    yield call(name, x, indices, oracle=_unpool(dims), options=options, **settings)
    name = f"functional.max_unpool{dims}d"
    yield call(name, x, indices, oracle=_unpool(dims), **settings, **options)


X1, X2, X3 = draw(2, 3, 9), draw(1, 2, 7, 6), draw(1, 2, 4, 3, 5)
WIDE = draw(2, 2, 8, 7)
POSITIVE = abs(X2) + 0.1

_MAX: list[tuple[int, Array, dict[str, Any]]] = [
    (2, WIDE, {"kernel_size": 2}),
    (2, WIDE, {"kernel_size": 3, "stride": 2, "padding": 1}),
    (2, X2, {"kernel_size": (2, 3), "stride": (3, 1)}),
    (2, X2[0], {"kernel_size": 3, "padding": 1, "return_indices": True}),
    (2, X2, {"kernel_size": (2, 3), "dilation": (3, 2), "padding": 1, "stride": 1}),
    (2, X2, {"kernel_size": 3, "stride": 2, "ceil_mode": True, "padding": 1}),
    (2, X2, {"kernel_size": 2, "stride": (3, 4), "ceil_mode": True}),
    (2, X2, {"kernel_size": 2, "stride": 3, "ceil_mode": True, "return_indices": True}),
    (1, X1, {"kernel_size": 3}),
    (1, X1, {"kernel_size": 10, "stride": 2, "ceil_mode": True}),
    (1, X1[0], {"kernel_size": 2, "stride": 3, "padding": 1, "ceil_mode": True}),
    (1, X1, {"kernel_size": 3, "dilation": 2, "padding": 1, "stride": 1, "return_indices": True}),
    (3, X3, {"kernel_size": 2}),
    (3, X3[0], {"kernel_size": (2, 3, 1), "stride": 2, "padding": (1, 0, 0), "ceil_mode": True}),
    (3, X3, {"kernel_size": 2, "stride": 1, "dilation": (2, 1, 3), "return_indices": True}),
]

_AVG: list[tuple[int, Array, dict[str, Any]]] = [
    (2, WIDE, {"kernel_size": 2}),
    (2, WIDE, {"kernel_size": 3, "stride": 2, "padding": 1}),
    (2, X2[0], {"kernel_size": (2, 3), "stride": (3, 1), "padding": (1, 0)}),
    (2, X2, {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}),
    (2, X2, {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
    (2, X2, {"kernel_size": 2, "stride": 3, "ceil_mode": True, "count_include_pad": False}),
    (2, X2, {"kernel_size": 2, "stride": 3, "ceil_mode": True, "divisor_override": -3}),
    (1, X1, {"kernel_size": 2}),
    (1, X1[0], {"kernel_size": 4, "stride": 3, "padding": 2, "ceil_mode": True}),
    (1, X1, {"kernel_size": (3,), "stride": 1, "padding": 1, "count_include_pad": False}),
    (3, X3, {"kernel_size": 2}),
    (3, X3[0], {"kernel_size": (2, 3, 2), "stride": 2, "padding": 1, "ceil_mode": True}),
    (3, X3, {"kernel_size": 2, "padding": 1, "count_include_pad": False}),
    (3, X3, {"kernel_size": 2, "divisor_override": 5}),
]

_PARTS: list[tuple[int, Array, dict[str, Any]]] = [
    (2, X2, {"output_size": 1}),
    (2, X2, {"output_size": (7, 3)}),
    (2, X2[0], {"output_size": (3, 4)}),
    (2, X2, {"output_size": (None, 8)}),
    (1, X1, {"output_size": 3}),
    (1, X1[0], {"output_size": 4}),
    (3, X3, {"output_size": (2, 3, 1)}),
    (3, X3, {"output_size": (3, None, 2)}),
]

_LP: list[tuple[int, Array, dict[str, Any]]] = [
    (2, X2, {"norm_type": 2, "kernel_size": 2}),
    (2, POSITIVE, {"norm_type": 1.5, "kernel_size": (2, 3), "stride": 2, "ceil_mode": True}),
    (2, X2, {"norm_type": float("inf"), "kernel_size": 2}),
    (2, X2[0], {"norm_type": -float("inf"), "kernel_size": 3}),
    (1, abs(X1), {"norm_type": 3, "kernel_size": 2, "stride": 3}),
    (3, X3, {"norm_type": 2.0, "kernel_size": 2}),
]


def _fractional(
    x: Array, kernel_size: Any, output_size: Any, _random_samples: Array, **_: Any
) -> Array:
    """Return the largest elements of windows that begin where random numbers say."""
    dims = _random_samples.shape[-1]
    kernel, size = each(kernel_size, dims), each(output_size, dims)
    out = np.zeros((*x.shape[:2], *size))
    for n, channel, *place in np.ndindex(out.shape):
        drawn = _random_samples[n, channel][:: -1 if dims == 2 else 1]
        window: list[Any] = []
        for extent, k, count, u, i in zip(x.shape[2:], kernel, size, drawn, place, strict=True):
            step = (extent - k) / (count - 1)
            start = extent - k if i == count - 1 else int((i + u) * step) - int(u * step)
            window.append(slice(start, start + k))
        out[(n, channel, *place)] = x[(n, channel, *window)].max()
    return out


def _evenly(*shape: int) -> Array:
    """Return random numbers from 0 to 1."""
    return np.random.default_rng(0).random(shape)


_FRACTIONS = [
    call(
        name, draw(*shape), kernel_size=kernel_size, output_size=output_size,
        constants={"_random_samples": _evenly(*shape[:2], len(shape) - 2)},
        oracle=_fractional,
    )
    for name, shape, kernel_size, output_size in [
        ("FractionalMaxPool2d", (2, 3, 9, 7), (2, 3), (4, 3)),
        ("functional.fractional_max_pool2d", (2, 3, 9, 7), (2, 3), (4, 3)),
        ("FractionalMaxPool3d", (1, 2, 5, 6, 7), 2, (3, 2, 4)),
        ("functional.fractional_max_pool3d", (1, 2, 5, 6, 7), 2, (3, 2, 4)),
    ]
]  # fmt: skip

CALLS = [
    row
    for name, make, rows in (
        ("MaxPool", _max_pool, _MAX),
        ("AvgPool", _avg_pool, _AVG),
        ("AdaptiveAvgPool", _adaptive_avg_pool, _PARTS),
        (
            "AdaptiveMaxPool",
            _adaptive_max_pool,
            [*_PARTS, *((d, x, {**said, "return_indices": True}) for d, x, said in _PARTS[2:6])],
        ),
        ("LPPool", _lp_pool, _LP),
    )
    for dims, x, settings in rows
    for row in _both(name, dims, make, x, **settings)
]
CALLS += [
    *_unpooling(2, (2, 2, 2, 3), 24, kernel_size=2),
    *_unpooling(2, (2, 2, 3), 20, kernel_size=2, output_size=(5, 7)),
    *_unpooling(
        2, (1, 2, 3, 2), 15, kernel_size=3, stride=2, padding=(1, 0), output_size=(1, 2, 5, 5)
    ),
    *_unpooling(1, (2, 3, 4), 8, kernel_size=2),
    *_unpooling(1, (3, 4), 8, kernel_size=3, stride=2, padding=1, output_size=(8,)),
    *_unpooling(3, (1, 2, 2, 1, 2), 32, kernel_size=2),
    *_FRACTIONS,
]

REFUSED: list[Refused] = [
    refused("functional.max_pool2d", X2, kernel_size=2, padding=2, says="at most half"),
    refused("functional.max_pool2d", X2, kernel_size=8, says="window of 8"),
    refused("functional.max_pool2d", X2, kernel_size=9, stride=2, ceil_mode=True, says="of 9"),
    refused("functional.max_pool2d", X2, kernel_size=2, stride=0, says="stride must be"),
    refused("functional.max_pool2d", X2, kernel_size=2, dilation=0, says="dilation must be"),
    refused("functional.max_pool2d", X2[0, 0], kernel_size=2, says="images of shape"),
    refused("functional.max_pool1d", X2, kernel_size=2, says="signals of shape"),
    refused("functional.max_pool3d", X2[0], kernel_size=2, says="volumes of shape"),
    refused("MaxPool2d", X2, kernel_size=(1, 2, 3), says="kernel_size must be one or two"),
    refused("functional.max_pool1d", X1[..., :3], kernel_size=2, padding=1, dilation=4, stride=1,
            says="nothing but padding around 3"),
    refused("functional.avg_pool2d", X2, kernel_size=2, divisor_override=0, says="other than 0"),
    refused("functional.avg_pool2d", X2, kernel_size=2, padding=2, says="at most half"),
    refused("functional.avg_pool3d", X2[0], kernel_size=2, says="volumes of shape"),
    refused("AvgPool1d", X2, kernel_size=2, says="signals of shape"),
    refused("functional.lp_pool2d", X2, norm_type=0, kernel_size=2, says="other than 0"),
    refused("LPPool1d", X2, norm_type=2, kernel_size=2, says="signals of shape"),
    refused("functional.adaptive_avg_pool2d", X2, output_size=(3,), says="or 2; got"),
    refused("functional.adaptive_avg_pool2d", X2, output_size=-1, says="output_size must be"),
    refused("functional.adaptive_max_pool1d", X2, output_size=2, says="signals of shape"),
    refused("AdaptiveMaxPool2d", X2[:, :, :0], output_size=2, says="something in them"),
    refused("functional.max_unpool2d", X2, np.zeros(X2.shape, np.int32), 2, says="int32"),
    refused("functional.max_unpool2d", X2, np.zeros((2, 2), np.int64), 2, says="of the shape"),
    refused("functional.max_unpool2d", X2, np.full(X2.shape, 168), 2, says="168 is out of range"),
    refused("functional.max_unpool2d", X2, np.zeros(X2.shape, np.int64), 2, output_size=(16, 12),
            says="less than the stride"),
    refused("functional.max_unpool2d", X2, np.zeros(X2.shape, np.int64), 2, output_size=(16,),
            says="must have 2 sizes"),
    refused("MaxPool2d", draw(2, 0, 4, 4), kernel_size=2, says="have no windows"),
    refused("AvgPool1d", draw(2, 0, 4), kernel_size=2, says="have no windows"),
    refused("AdaptiveMaxPool2d", draw(2, 0, 4, 4), output_size=3, says="have no windows"),
    refused("MaxPool1d", draw(2, 3, 4), kernel_size=2, ceil_mode="yes", says="True or False"),
    refused("functional.lp_pool2d", draw(1, 2, 4, 4), norm_type="2", kernel_size=2, says="number"),
    refused("FractionalMaxPool2d", kernel_size=2, says="either an output_size or an output_ratio"),
    refused("FractionalMaxPool2d", kernel_size=2, output_ratio=1.5, says="below 1"),
    refused("FractionalMaxPool3d", draw(1, 2, 3, 3, 3), kernel_size=2, output_size=3, says="no "),
    refused("FractionalMaxPool2d", draw(3, 3), kernel_size=2, output_size=2, says="takes"),
    refused(
        "functional.fractional_max_pool2d",
        draw(1, 2, 5, 5),
        kernel_size=2,
        output_size=2,
        _random_samples=draw(1, 3, 2),
        says="random samples of shape",
    ),
]  # fmt: skip
