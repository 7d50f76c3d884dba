"""`as_strided`: shared memory, bounds, and gradients of overlapping elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.errors import CompileError, IndexingError, InPlaceError, ShapeError


def test_as_strided_returns_view_that_shares_memory() -> None:
    x = mt.arange(6.0)
    y = mt.as_strided(x, size=(2, 2), stride=(2, 1), storage_offset=1)
    assert y.tolist() == [[1, 2], [3, 4]]
    assert (y.stride(), y.storage_offset()) == ((2, 1), 1)
    y[1, 0] = 9.0
    x[2] = -1.0
    assert (x.tolist(), y.tolist()) == ([0, 1, -1, 9, 4, 5], [[1, -1], [9, 4]])
    assert x[2:].as_strided((2,), (3,)).tolist() == [-1, 5]  # the offset of x[2:]
    assert x[2:].as_strided((2,), (1,), 0).tolist() == [0, 1]
    assert x.as_strided((), (), 5).item() == 5
    assert x.as_strided((2, 0), (9, 9), 99).shape == (2, 0)
    with pytest.raises(InPlaceError, match="share memory"):
        x.as_strided((2, 2), (1, 1)).add_(1)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (((7,), (1,)), IndexingError, r"size \(7,\), .* elements 0 to 6 of a storage of 6 element"),
        (((2,), (1,), 5), IndexingError, "elements 5 to 6"),
        (((2,), (1,), -1), IndexingError, "elements -1 to 0"),
        (((2,), (-1,), 3), ShapeError, "one non-negative stride per dimension"),
        (((2,), (1, 1)), ShapeError, "one non-negative stride per dimension"),
        (((-2,), (1,)), ShapeError, r"\(-2,\) was given"),
        (((2.0,), (1,)), TypeError, "integers"),
        (((2,), (1.0,)), TypeError, "integers"),
        (((2,), (1,), 0.5), TypeError, "storage_offset must be an integer"),
    ],
    ids=lambda value: repr(value) if isinstance(value, tuple) else "",
)
def test_as_strided_rejects_bad_sizes_strides_and_offsets(
    arguments: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        mt.arange(6.0).as_strided(*arguments)


SOURCES = {
    "contiguous": lambda x: x,
    "slice": lambda x: x[1:3],
    "transposed": lambda x: x.reshape(2, 5).T,
    "step 2": lambda x: x[::2],
    "expanded": lambda x: x[:3].expand(2, 3),
}
VIEWS = {
    "overlapping": ((2, 2), (1, 1)),
    "repeated": ((3, 2), (0, 1)),
    "strided": ((2,), (3,)),
    "beyond the slice": ((4,), (2,), 0),
    "scalar": ((), (), 2),
    "empty": ((0, 2), (1, 1)),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("view", VIEWS)
def test_gradients_of_as_strided_match_torch(source: str, view: str) -> None:
    torch = pytest.importorskip("torch")
    results = []
    for library in (mt, torch):
        base = library.arange(10.0, dtype=library.float64, requires_grad=True)
        x = SOURCES[source](base)
        y = x.as_strided(*VIEWS[view])
        weights = library.arange(1.0, y.numel() + 1, dtype=library.float64).reshape(y.shape)
        (grad,) = library.autograd.grad((y * y * weights).sum(), x, retain_graph=True)
        (base_grad,) = library.autograd.grad((y * weights).sum(), base)
        results.append([y.tolist(), grad.tolist(), base_grad.tolist()])
    assert results[0] == results[1]


def test_as_strided_passes_gradcheck_and_gradgradcheck() -> None:
    x = mt.arange(1.0, 7.0, dtype="float64").requires_grad_()
    assert mt.gradcheck(lambda x: x.as_strided((3, 2), (1, 2), 1) ** 3, [x])
    assert mt.gradgradcheck(lambda x: x.as_strided((3, 2), (1, 2), 1) ** 3, [x])


@pytest.mark.parametrize("offset", [None, 0])
def test_gradients_of_in_place_changes_of_as_strided_match_torch(offset: int | None) -> None:
    torch = pytest.importorskip("torch")
    results = []
    for library in (mt, torch):
        x = library.arange(6.0, requires_grad=True)
        y = (x * 1)[1:5]
        z = y.as_strided((3,), (2,), offset) if offset is not None else y.as_strided((2,), (2,))
        z.mul_(10)
        (y * y).sum().backward()
        results.append([y.tolist(), z.tolist(), x.grad.tolist()])
    assert results[0] == results[1]


def test_as_strided_accepts_any_stride_of_a_dimension_of_size_1(backend: TensorBackend) -> None:
    x = mt.arange(6.0, backend=backend).as_strided((2, 1, 3), (3, 2**62, 1))
    assert x.stride() == (3, 2**62, 1)
    assert x.numpy().tolist() == [[[0, 1, 2]], [[3, 4, 5]]]
    assert (x + 1).sum(2).tolist() == [[6], [15]]


@pytest.mark.parametrize("step", [1, 2])
def test_in_place_change_of_as_strided_outside_of_base_raises(step: int) -> None:
    x = mt.arange(6.0)[1:5:step].detach()
    y = x.as_strided((2,), (1,), 0)
    with pytest.raises(InPlaceError, match="outside of its base"):
        y.mul_(mt.ones(2, requires_grad=True))


def test_16_bit_gradient_is_rounded_once() -> None:
    for dtype in ("float16", "bfloat16"):
        x = mt.zeros(1, dtype=dtype, requires_grad=True)
        grad = mt.full((300,), 0.9, dtype=dtype)
        x.as_strided((300,), (0,)).backward(grad)
        expected = (grad.float().sum()).to(getattr(mt, dtype))
        assert x.grad is not None
        assert x.grad.item() == expected.item()


def test_compiled_as_strided_reads_only_memory_of_its_argument() -> None:
    @mt.compile
    def pairs(x: Any) -> Any:
        return x.as_strided((3, 2), (1, 1)).sum(1)

    for start in (0, 1, 2):
        base = mt.arange(6.0)
        assert pairs(base[start : start + 4]).tolist() == [2 * start + k for k in (1, 3, 5)]
    with pytest.raises(CompileError, match="outside of a tensor"):
        pairs(mt.arange(6.0)[:3])
    with pytest.raises(CompileError, match="position in memory"):
        mt.compile(lambda x: x.as_strided((2,), (1,), 0) * 1)(mt.arange(6.0))


def test_as_strided_matches_numpy_sliding_windows() -> None:
    x = mt.arange(12.0).reshape(3, 4)
    windows = np.lib.stride_tricks.sliding_window_view(x.numpy(), (2, 2))
    assert x.as_strided((2, 3, 2, 2), (4, 1, 4, 1)).tolist() == windows.tolist()
