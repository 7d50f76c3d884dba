"""Views, copies, joins and padding against torch: values, memory, gradients and errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor import errors

torch = pytest.importorskip("torch")

SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (5,), (2, 3), (3, 0), (4, 1, 3), (2, 3, 2, 2)]
AT_LEAST_2D = [shape for shape in SHAPES if len(shape) > 1]
AT_LEAST_1D = [shape for shape in SHAPES if shape]
DTYPES = ("float32", "float16", "int64", "uint8", "bool")
ANY = SHAPES

Call = Callable[[Any, Any], Any]
"""A function of a library, `mt_tensor` or `torch`, and a tensor of it."""

VIEWS: list[tuple[str, list[tuple[int, ...]], Call]] = [
    ("split", AT_LEAST_1D, lambda lib, x: lib.split(x, 2)),
    ("split of 3", AT_LEAST_1D, lambda lib, x: x.split(3, -1)),
    ("split into sizes", [(5,), (5, 2)], lambda lib, x: lib.split(x, [1, 0, 4])),
    ("chunk", AT_LEAST_1D, lambda lib, x: lib.chunk(x, 3, -1)),
    ("chunk into one", AT_LEAST_1D, lambda lib, x: x.chunk(1)),
    ("tensor_split", AT_LEAST_1D, lambda lib, x: lib.tensor_split(x, 3)),
    ("tensor_split at indices", AT_LEAST_1D, lambda lib, x: x.tensor_split((1, -1, 9), -1)),
    ("unbind", AT_LEAST_1D, lambda lib, x: lib.unbind(x)),
    ("unbind the last", AT_LEAST_1D, lambda lib, x: x.unbind(-1)),
    ("unflatten", [(4,), (4, 3)], lambda lib, x: lib.unflatten(x, 0, (2, -1))),
    ("movedim", AT_LEAST_2D, lambda lib, x: lib.movedim(x, (0, 1), (-1, 0))),
    ("movedim of one", AT_LEAST_1D, lambda lib, x: x.movedim(-1, 0)),
    ("swapdims", AT_LEAST_1D, lambda lib, x: lib.swapdims(x, 0, -1)),
    ("swapaxes", AT_LEAST_1D, lambda lib, x: x.swapaxes(0, -1)),
    ("transpose", ANY, lambda lib, x: lib.transpose(x, 0, -1)),
    ("permute", AT_LEAST_2D, lambda lib, x: lib.permute(x, (1, 0, *range(2, x.ndim)))),
    ("diagonal", AT_LEAST_2D, lambda lib, x: lib.diagonal(x)),
    ("diagonal above", AT_LEAST_2D, lambda lib, x: x.diagonal(1, -1, 0)),
    ("diagonal far below", AT_LEAST_2D, lambda lib, x: x.diagonal(-3, 0, 1)),
    ("diagonal far above", AT_LEAST_2D, lambda lib, x: x.diagonal(9)),
    ("broadcast_to", ANY, lambda lib, x: lib.broadcast_to(x, (2, *x.shape))),
    ("broadcast_tensors", ANY, lambda lib, x: lib.broadcast_tensors(x, lib.zeros(2, 1, 1, 1, 1))),
    ("meshgrid", [(3,), (0,), ()], lambda lib, x: lib.meshgrid(x, x, x, indexing="ij")),
    ("meshgrid xy", [(3,)], lambda lib, x: lib.meshgrid(x, x[:2], x, indexing="xy")),
    ("squeeze", ANY, lambda lib, x: lib.squeeze(x)),
    ("unsqueeze", ANY, lambda lib, x: lib.unsqueeze(x, -1)),
    ("atleast_1d", ANY, lambda lib, x: lib.atleast_1d(x)),
    ("atleast_2d", ANY, lambda lib, x: lib.atleast_2d([x, x])),
    ("atleast_2d of two", ANY, lambda lib, x: lib.atleast_2d(x, x)),
    ("narrow", [(5,), (4, 1)], lambda lib, x: lib.narrow(x, 0, 1, 2)),
    ("flatten", [(2, 3), (2, 3, 2)], lambda lib, x: lib.flatten(x, 0, 1)),
    ("reshape", ANY, lambda lib, x: lib.reshape(x, (1, *x.shape))),
    ("expand_as", ANY, lambda lib, x: x.expand_as(lib.zeros(2, *x.shape))),
    ("view_as", ANY, lambda lib, x: x.view_as(lib.zeros(*x.shape, 1))),
    ("reshape_as", ANY, lambda lib, x: x.reshape_as(lib.zeros(*x.shape, 1))),
]

COPIES: list[tuple[str, list[tuple[int, ...]], Call]] = [
    ("roll", ANY, lambda lib, x: lib.roll(x, 2)),
    ("roll back", AT_LEAST_1D, lambda lib, x: x.roll(-7, 0)),
    ("roll twice", AT_LEAST_1D, lambda lib, x: x.roll((1, 1), (0, 0))),
    ("roll two", AT_LEAST_2D, lambda lib, x: lib.roll(x, shifts=(1, -1), dims=(0, -1))),
    ("repeat", ANY, lambda lib, x: x.repeat(2, *(1 for _ in x.shape), 3)),
    ("repeat once", ANY, lambda lib, x: x.repeat(tuple(1 for _ in x.shape))),
    ("repeat 0 times", ANY, lambda lib, x: x.repeat(0, *(1 for _ in x.shape))),
    ("tile", ANY, lambda lib, x: lib.tile(x, (2, 3))),
    ("tile by one", ANY, lambda lib, x: x.tile(2)),
    ("repeat_interleave", ANY, lambda lib, x: lib.repeat_interleave(x, 3)),
    ("repeat_interleave 0 times", ANY, lambda lib, x: x.repeat_interleave(0)),
    ("repeat_interleave scalar tensor", ANY, lambda lib, x: x.repeat_interleave(lib.tensor(2))),
    ("repeat_interleave dim", AT_LEAST_1D, lambda lib, x: lib.repeat_interleave(x, 2, dim=-1)),
    (
        "repeat_interleave tensor",
        [(2, 3)],
        lambda lib, x: x.repeat_interleave(lib.tensor([0, 2, 1]), 1, output_size=3),
    ),
    (
        "repeat_interleave one",
        AT_LEAST_1D,
        lambda lib, x: lib.repeat_interleave(x, lib.tensor([2]), dim=0),
    ),
    ("tril", AT_LEAST_2D, lambda lib, x: lib.tril(x)),
    ("tril below", AT_LEAST_2D, lambda lib, x: x.tril(-1)),
    ("triu", AT_LEAST_2D, lambda lib, x: lib.triu(x)),
    ("triu above", AT_LEAST_2D, lambda lib, x: x.triu(diagonal=2)),
    ("diag of a vector", [(3,), (0,), (1,)], lambda lib, x: lib.diag(x, -1)),
    ("diag of a matrix", [(2, 3), (3, 0)], lambda lib, x: x.diag(1)),
    ("flip", AT_LEAST_2D, lambda lib, x: lib.flip(x, (0, -1))),
    ("cat", AT_LEAST_1D, lambda lib, x: lib.cat(tensors=(x, x), dim=-1)),
    ("stack", ANY, lambda lib, x: lib.stack(tensors=(x, x), dim=-1)),
    ("hstack", ANY, lambda lib, x: lib.hstack((x, x))),
    ("vstack", ANY, lambda lib, x: lib.vstack([x, x])),
    ("masked_fill", ANY, lambda lib, x: lib.masked_fill(x, x > 1, 0)),
]

CASES = [
    pytest.param(shape, call, call_is_view, id=f"{name}-{shape}")
    for table, call_is_view in ((VIEWS, True), (COPIES, False))
    for name, shapes, call in table
    for shape in shapes
]


def as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple | list) else (result,)


@pytest.mark.parametrize(("shape", "call", "is_view"), CASES)
def test_movement_values_dtypes_and_memory_match_torch(
    shape: tuple[int, ...], call: Call, is_view: bool
) -> None:
    values = np.random.default_rng(0).permutation(int(np.prod(shape))).reshape(shape)
    for dtype in DTYPES:
        array = values.astype(dtype)
        x, y = mt.tensor(array), torch.from_numpy(array.copy())
        results, expected = as_tuple(call(mt, x)), as_tuple(call(torch, y))
        assert len(results) == len(expected)
        for ours, theirs in zip(results, expected, strict=True):
            assert ours.shape == tuple(theirs.shape)
            assert np.array_equal(ours, theirs)
            assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
        if is_view and x.numel() and results[0].numel():
            assert np.shares_memory(results[0].numpy(), x.numpy())
            assert (
                expected[0].data_ptr() - y.data_ptr()
                == results[0].storage_offset() * x.dtype.itemsize
            )


@pytest.mark.parametrize(("shape", "call", "is_view"), CASES)
def test_movement_gradients_match_torch(shape: tuple[int, ...], call: Call, is_view: bool) -> None:
    array = np.random.default_rng(1).standard_normal(shape)
    x = mt.tensor(array, requires_grad=True)
    y = torch.from_numpy(array).requires_grad_()
    total = x.sum() * 0
    for position, each in enumerate(as_tuple(call(mt, x))):
        total = total + (each * each).sum() * (position + 1.0)
    expected = y.sum() * 0
    for position, each in enumerate(as_tuple(call(torch, y))):
        expected = expected + (each * each).sum() * (position + 1.0)
    total.backward()
    expected.backward()
    assert np.allclose(x.grad, y.grad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda lib, x: x.split(0), errors.ShapeError),
        (lambda lib, x: x.split([1, 2]), errors.ShapeError),
        (lambda lib, x: x.split([-1, 3]), errors.ShapeError),
        (lambda lib, x: x.split(1.5), TypeError),
        (lambda lib, x: x.split(1, 2), errors.IndexingError),
        (lambda lib, x: x.sum().split(1), errors.IndexingError),
        (lambda lib, x: x.chunk(0), errors.DomainError),
        (lambda lib, x: x.tensor_split(0), errors.DomainError),
        (lambda lib, x: x.sum().unbind(), errors.IndexingError),
        (lambda lib, x: x.unbind(2), errors.IndexingError),
        (lambda lib, x: x.unflatten(1, (2, 2)), errors.ShapeError),
        (lambda lib, x: x.unflatten(1, ()), errors.ShapeError),
        (lambda lib, x: x.roll((1, 2)), errors.ShapeError),
        (lambda lib, x: x.roll(1, 2), errors.IndexingError),
        (lambda lib, x: x.roll((1, 2), 0), errors.ShapeError),
        (lambda lib, x: x.repeat(2), errors.ShapeError),
        (lambda lib, x: x.repeat(2, -1), errors.ShapeError),
        (lambda lib, x: x.repeat_interleave(-1), errors.ShapeError),
        (lambda lib, x: x.repeat_interleave(lib.tensor([1, 2]), 1), errors.ShapeError),
        (lambda lib, x: x.repeat_interleave(lib.tensor([1.0]), 1), errors.DTypeError),
        (lambda lib, x: x.movedim((0, 1), 0), errors.IndexingError),
        (lambda lib, x: x.movedim((0, 0), (0, 1)), errors.IndexingError),
        (lambda lib, x: x.movedim(2, 0), errors.IndexingError),
        (lambda lib, x: x.diagonal(0, 1, 1), errors.IndexingError),
        (lambda lib, x: x[0].diagonal(), errors.IndexingError),
        (lambda lib, x: x.sum().diag(), errors.ShapeError),
        (lambda lib, x: lib.diag(x[None]), errors.ShapeError),
        (lambda lib, x: x[0].tril(), errors.ShapeError),
        (lambda lib, x: x.triu(0.5), TypeError),
        (lambda lib, x: lib.meshgrid(x, indexing="ij"), errors.ShapeError),
        (lambda lib, x: lib.meshgrid(x[0], x[0].long(), indexing="ij"), errors.DTypeError),
        (lambda lib, x: lib.meshgrid(x[0], indexing="yx"), errors.DomainError),
        (lambda lib, x: lib.broadcast_tensors(x, x[:, :2]), errors.IndexingError),
        (lambda lib, x: x.expand_as(x[0]), errors.ShapeError),
        (lambda lib, x: x.view_as(x[0]), errors.ShapeError),
        (lambda lib, x: lib.flip(x, (2,)), errors.IndexingError),
        (lambda lib, x: lib.hstack([]), errors.ShapeError),
        (lambda lib, x: lib.vstack([x, x[:, :2]]), errors.ShapeError),
    ],
)
def test_bad_movement_arguments_raise_in_both_libraries(call: Call, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(mt, mt.zeros(2, 3))
    with pytest.raises((RuntimeError, IndexError, TypeError, ValueError)):
        call(torch, torch.zeros(2, 3))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("roll", (1,)),
        ("tile", (1,)),
        ("split", (1,)),
        ("diag", ()),
        ("triu", ()),
        ("movedim", (0, 1)),
        ("flip", (0,)),
        ("unbind", ()),
        ("squeeze", ()),
        ("meshgrid", (1,)),
    ],
)
def test_lists_instead_of_tensors_raise(name: str, arguments: tuple[int, ...]) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) takes tensors; \[1, 2\]"):
        getattr(mt, name)([1, 2], *arguments)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_random_diagonals_match_numpy(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(0, 4), min_size=2, max_size=4)))
    dims = data.draw(st.permutations(range(-len(shape), 0)))
    offset = data.draw(st.integers(-5, 5))
    array = np.arange(float(np.prod(shape))).reshape(shape)
    x = mt.tensor(array).permute(*reversed(range(len(shape)))).flip(0)
    y = np.flip(array.T, 0)
    assert np.array_equal(
        x.diagonal(offset, dims[0], dims[1]), y.diagonal(offset, dims[0], dims[1])
    )


def test_writing_to_diagonal_and_split_changes_the_tensor() -> None:
    x = mt.zeros(2, 3)
    x.diagonal(1).fill_(5)
    assert x.tolist() == [[0, 5, 0], [0, 0, 5]]
    x.split(2, 1)[0][:] = 7.0
    assert x.tolist() == [[7, 7, 0], [7, 7, 5]]


@pytest.mark.parametrize("name", ["cat", "stack", "hstack", "vstack"])
def test_joins_reject_anything_but_lists_and_tuples(name: str) -> None:
    for wrong in (mt.zeros(2, 2), 3):
        with pytest.raises(TypeError, match=rf"{name}\(\) takes a list or tuple of tensors"):
            getattr(mt, name)(wrong)


def test_pad_matches_torch_and_rejects_bad_arguments() -> None:
    array = np.arange(6.0).reshape(2, 3)
    x, y = mt.tensor(array), torch.from_numpy(array)
    for padding in ((1, 2), (0, -1, 2, 0), (), (-1, -2), (-3, 0), (0, 0, -2, 0), (-3, 3)):
        expected = torch.nn.functional.pad(y, padding, mode="constant", value=3.0)
        assert np.array_equal(mt.pad(x, padding, mode="constant", value=3.0), expected)
        assert np.array_equal(mt.pad(input=x, pad=padding), torch.nn.functional.pad(y, padding))
        leaf = mt.tensor(array, requires_grad=True)
        mt.pad(leaf, padding).sum().backward()
        assert leaf.grad is not None
        assert leaf.grad.sum().item() == mt.pad(mt.ones(2, 3), padding).sum().item()
    for crops in ((-2, -2), (-4, 1), (-4, 4)):
        with pytest.raises(errors.ShapeError, match="cannot crop"):
            mt.pad(x, crops)
    with pytest.raises(ValueError, match="'mirror' was given"):
        mt.pad(x, (1, 1), "mirror")
    with pytest.raises(errors.ShapeError, match="takes pairs"):
        mt.pad(x, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"pad\(\) takes tensors"):
        mt.pad(array, (1, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[...],
        lambda x: x[()],
        lambda x: x[:],
        lambda x: x.narrow(0, 0, 2),
        lambda x: x.expand(2, 3),
        lambda x: x.expand_as(x),
        lambda x: x.view(2, 3),
    ],
)
def test_view_of_all_elements_is_a_new_tensor(view) -> None:
    x = mt.ones(2, 3, requires_grad=True)
    y = view(x)
    assert y is not x
    assert y.requires_grad
    assert not y.is_leaf
    (y * y).sum().backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2


@pytest.mark.parametrize("lib", [mt, torch])
def test_flatten_and_broadcast_return_the_input_if_its_shape_fits(lib) -> None:
    x = lib.ones(2, 3, requires_grad=True)
    assert x.flatten(1) is x
    assert x[0].flatten().is_leaf == x[0].is_leaf
    first, second = lib.broadcast_tensors(x, x[0])
    assert first is x
    assert second is not x[0]
    assert lib.ones(()).flatten().shape == (1,)


def test_broadcast_shapes_returns_the_common_shape_or_raises():
    assert mt.broadcast_shapes() == ()
    assert mt.broadcast_shapes(3) == (3,)
    assert mt.broadcast_shapes((2, 1), 3, (1, 1, 1), ()) == (1, 2, 3)
    assert mt.broadcast_shapes((2, 1), (0,)) == (2, 0)
    with pytest.raises(mt.errors.IndexingError, match="broadcast"):
        mt.broadcast_shapes((2,), (3,))
    with pytest.raises(mt.errors.ShapeError, match="non-negative"):
        mt.broadcast_shapes((2, -1))
