"""Indexing, scatter and gather against torch: values, assignments, gradients and errors."""

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_autodiff import GradientError
from mt_tensor import errors

torch = pytest.importorskip("torch")

BACKENDS = ("numpy", "simple")


def both(array: Any, backend: str = "numpy") -> tuple[Any, Any]:
    return mt.tensor(np.array(array), backend=backend), torch.from_numpy(np.array(array))


def to_torch(key: Any) -> Any:
    """Convert the tensors in an index to torch."""
    if isinstance(key, tuple):
        return tuple(map(to_torch, key))
    return torch.from_numpy(np.array(key)) if isinstance(key, mt.Tensor) else key


@st.composite
def expressions(draw: st.DrawFn) -> tuple[tuple[int, ...], Any, str]:
    """Draw a shape, an index for it, and a backend."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=0, max_size=4)))
    backend = draw(st.sampled_from(BACKENDS))
    common = draw(st.sampled_from([(), (2,), (3, 1), (0,)]))
    key: list[Any] = []
    dim, dots = 0, False
    while dim < len(shape) or draw(st.booleans()):
        kinds = ["none", "flag"] if dim == len(shape) else []
        if dim < len(shape):
            kinds = ["int", "slice", "slice", "tensor", "tensor", "mask", "none", "stop"]
            kinds += [] if dots else ["dots"]
        kind = draw(st.sampled_from(kinds))
        length = shape[dim] if dim < len(shape) else 0
        seed = np.random.default_rng(draw(st.integers(0, 99)))
        if kind == "none":
            key.append(None)
        elif kind == "flag":
            key.append(draw(st.booleans()))
            break
        elif kind == "int":
            key.append(draw(st.integers(-length, length - 1)))
        elif kind == "slice":
            bounds = st.none() | st.integers(-6, 6)
            key.append(slice(draw(bounds), draw(bounds), draw(st.sampled_from([None, 1, 2, 3]))))
        elif kind == "tensor":
            index = seed.integers(-length, length, draw(st.sampled_from([common, (1,), ()])))
            form = draw(st.sampled_from(["tensor", "list"]))
            key.append(mt.tensor(index, backend=backend) if form == "tensor" else index.tolist())
        elif kind == "mask":
            rank = draw(st.integers(0, min(2, len(shape) - dim)))
            mask = np.zeros(shape[dim : dim + rank], bool)
            # As many as the other indices have elements, so that they usually broadcast.
            mask.reshape(-1)[: max(1, common[0] if common else 1)] = True
            key.append(mt.tensor(mask, backend=backend))
            dim += rank
            continue
        elif kind == "dots":
            key.append(...)
            dots = True
            dim = draw(st.integers(dim, len(shape)))
            continue
        else:
            break
        dim += kind not in ("none", "flag")
    return shape, tuple(key), backend


@settings(max_examples=400, deadline=None)
@given(expressions())
def test_random_indices_match_torch(expression: tuple[tuple[int, ...], Any, str]) -> None:
    shape, key, backend = expression
    array = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    ours, theirs = both(array, backend)
    ours.requires_grad_()
    theirs.requires_grad_()
    try:
        expected = theirs[to_torch(key)]
    except (IndexError, RuntimeError):
        with pytest.raises(errors.IndexingError):
            ours[key]
        return
    if not expected.numel():  # torch does not check the indices then
        with contextlib.suppress(errors.IndexingError):
            assert ours[key].shape == tuple(expected.shape)
        return
    result = ours[key]
    assert result.shape == tuple(expected.shape)
    assert np.array_equal(result.detach(), expected.detach())
    assert result.dtype is mt.float64
    if expected._base is not None:
        assert np.shares_memory(result.detach().numpy(), ours.detach().numpy())
    if result is not ours:
        (result * result).sum().backward()
        (expected * expected).sum().backward()
        assert np.array_equal(ours.grad, theirs.grad)  # type: ignore[arg-type]


@settings(max_examples=400, deadline=None)
@given(expressions(), st.data())
def test_random_assignments_match_torch(
    expression: tuple[tuple[int, ...], Any, str], data: st.DataObject
) -> None:
    shape, key, backend = expression
    array = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    if data.draw(st.booleans()):
        array = array[..., ::-1] if shape else array
    ours, theirs = both(array, backend)
    if data.draw(st.booleans()):
        ours, theirs = ours.T, theirs.permute(tuple(reversed(range(theirs.ndim))))
    try:
        expected = theirs[to_torch(key)].shape
    except (IndexError, RuntimeError):
        with pytest.raises(errors.IndexingError):
            ours[key] = 1.0
        return
    if not np.prod(expected):  # torch does not check the indices then
        with contextlib.suppress(errors.IndexingError):
            ours[key] = 1.0
        assert np.array_equal(ours, theirs)
        return
    constant = data.draw(st.booleans())  # then the order of repeated indices does not matter
    value = np.full(expected, -5.0) if constant else np.arange(-1.0, -1 - np.prod(expected), -1)
    first = 0 if not expected else data.draw(st.integers(0, len(expected)))
    part = np.full(expected[first:], -3.0) if constant else value.reshape(expected)
    ours[key] = mt.tensor(part, backend=backend)
    theirs[to_torch(key)] = torch.from_numpy(np.array(part))
    if constant or len(set(theirs[to_torch(key)].reshape(-1).tolist())) == part.size:
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "key",
    [
        ([0, 1], slice(None), [1, 2]),
        (slice(None), [0, 2], [1, 3]),
        (0, slice(None), [1, 3]),
        ([[0], [1]], [0, 2]),
        (slice(None, None, -1), [0, 0]),
        ([0, 1], None, [1, 2]),
        (None, [0, 1], [1, 2]),
        (..., [3, 0]),
        (True, [0, 1]),
        [],
    ],
)
def test_second_derivatives_of_indexing_match_torch(backend: str, key: Any) -> None:
    x = mt.tensor(np.arange(24.0).reshape(2, 3, 4), backend=backend, requires_grad=True)
    assert mt.gradcheck(lambda x: x[key], [x])
    x[key].pow(3).sum().backward(create_graph=True)
    first, x.grad = x.grad, None
    assert first is not None
    (first * first).sum().backward()

    array = np.arange(24.0).reshape(2, 3, 4)
    backwards = isinstance(key, tuple) and slice(None, None, -1) in [
        k for k in key if isinstance(k, slice)
    ]
    if backwards:
        return  # torch has no negative steps
    y = torch.from_numpy(array).requires_grad_()
    (gradient,) = torch.autograd.grad(y[key].pow(3).sum(), y, create_graph=True)
    (gradient * gradient).sum().backward()
    assert np.allclose(x.grad, y.grad)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32"])
def test_indexing_keeps_the_dtype_and_takes_any_integer_index(dtype: str) -> None:
    ours, theirs = both(np.arange(6).reshape(2, 3).astype(dtype))
    key = ([1, 0], [2, 2])
    assert ours[key].dtype.name == dtype
    assert np.array_equal(ours[key], theirs[key])
    ours[key] = theirs[key] = 1
    assert np.array_equal(ours, theirs)
    for kind in ("int8", "int32", "int64"):
        index = mt.tensor([1, -1], dtype=kind)
        assert np.array_equal(ours[index], theirs[[1, -1]])


def test_masks_select_and_assign_elements() -> None:
    ours, theirs = both(np.array([[1.0, np.nan, -2.0], [np.inf, 0.0, 5.0]]))
    ours[ours != ours] = 0.0
    theirs[theirs != theirs] = 0.0
    ours[ours > 0] *= 10
    theirs[theirs > 0] *= 10
    assert np.array_equal(ours, theirs)
    assert ours[ours > 1e9].tolist() == [float("inf")]
    assert ours[ours < -100].shape == (0,)
    ours[ours < -100] = 7.0
    assert np.array_equal(ours, theirs)
    square = mt.zeros(2, 2)
    square[mt.tensor([True, False])] = 1.0  # rows, not columns
    assert square.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    zero = mt.tensor(3.0)
    assert zero[zero > 0].tolist() == [3.0]
    assert zero[zero < 0].shape == (0,)
    zero[zero > 0] = 4.0
    assert zero.item() == 4.0
    zero[False] = 5.0
    assert zero.item() == 4.0


def test_integer_and_slice_indices_return_views() -> None:
    x = mt.zeros(2, 3)
    x[mt.tensor(1)][np.int64(2)].fill_(5)
    assert x.tolist() == [[0, 0, 0], [0, 0, 5]]
    x[..., ::-2][0].copy_([1, 2])
    assert x.tolist() == [[2, 0, 1], [0, 0, 5]]


def test_overlapping_value_is_read_before_it_is_overwritten() -> None:
    for backend in BACKENDS:
        x, y = both(np.arange(6.0).reshape(2, 3), backend)
        x[[0, 1]] = x[::1].flip(0)
        y[[0, 1]] = y.flip(0).clone()
        assert np.array_equal(x, y)
        positions = mt.tensor([2, 0, 1], backend=backend)
        positions[positions] = positions
        assert positions.tolist() == [0, 1, 2]
        assert positions.index_add_(0, positions, positions).tolist() == [0, 2, 4]


def test_assigned_values_are_broadcast_and_converted() -> None:
    ours, theirs = both(np.zeros((2, 3), np.float32))
    ours[:, [0, 2]] = mt.ones(1, 1, 1, 2)
    theirs[:, [0, 2]] = torch.ones(1, 1, 1, 2)
    ours[0] = mt.ones(1, 1, 3) * 2
    theirs[0] = torch.ones(1, 1, 3) * 2
    assert np.array_equal(ours, theirs)
    ours[[1]] = [4, 5, 6]
    assert ours[1].tolist() == [4, 5, 6]
    ours[ours > 4] = mt.tensor(7)
    assert ours[1].tolist() == [4, 7, 7]
    assert ours.dtype is mt.float32


def test_assignments_are_recorded_and_checked_by_autograd() -> None:
    w, x = mt.ones(3, requires_grad=True), mt.arange(3, dtype="float32")
    y = (w * x).sum()
    x[[0, 1]] = 9.0
    with pytest.raises(errors.InPlaceError, match="has been changed in place, so"):
        y.backward()
    with pytest.raises(errors.InPlaceError, match="requires grad"):
        w[[0]] = 1.0
    x[[0]] = w[0]
    assert x.requires_grad
    with mt.no_grad():
        w[[0, 2]] = 3.0
    assert w.tolist() == [3, 1, 3]
    with pytest.raises(errors.InPlaceError, match="of its elements share memory"):
        mt.zeros(1).expand(3)[[0]] = 1.0


@pytest.mark.parametrize(
    "key", [[0, 2], (0, [-4]), ([0, 1], [0, 1, 2]), ([0], [0], [0]), [True, False, True], 1.0]
)
def test_torch_rejects_the_same_indices(key: Any) -> None:
    with pytest.raises((IndexError, TypeError)):
        torch.zeros(2, 3)[key]
    with pytest.raises(errors.IndexingError):
        mt.zeros(2, 3)[key]


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        ([0, 2], errors.IndexingError, "index 2 is out of range for dimension 0 with 2"),
        ((0, [-4]), errors.IndexingError, "index -4 is out of range for dimension 1 with 3"),
        (([0, 1], [0, 1, 2]), errors.IndexingError, "do not broadcast"),
        (([0], [0], [0]), errors.IndexingError, "too many indices: 3"),
        ((0, 0, True, 0), errors.IndexingError, "too many indices: 3"),
        ([True, False, True], errors.IndexingError, r"mask at dimension 0 must have shape \(2,\)"),
        ([[True] * 2] * 3, errors.IndexingError, r"must have shape \(2, 3\).*\(3, 2\)"),
        ([1.5], errors.IndexingError, "float64 array cannot be an index"),
        (mt.ones(1), errors.IndexingError, "float32 tensor cannot be an index"),
        (["a"], errors.IndexingError, "cannot be an index"),
        ([[0], [0, 1]], errors.IndexingError, "cannot be an index"),
        ((0, slice("a")), TypeError, "cannot slice"),
        (1.0, errors.IndexingError, "cannot be indexed by 1.0"),
        ((..., [0], ...), errors.IndexingError, "single Ellipsis"),
    ],
)
def test_bad_indices_raise_with_reason(key: Any, error: type[Exception], message: str) -> None:
    x = mt.zeros(2, 3)
    with pytest.raises(error, match=message):
        x[key]
    with pytest.raises(error, match=message):
        x[key] = 1.0


def test_bad_values_in_assignments_raise() -> None:
    x = mt.zeros(2, 3)
    for key in ([0, 1], slice(None), (slice(None), [0, 1, 2]), x == 0):
        with pytest.raises(errors.ShapeError):
            x[key] = mt.ones(5)
    with pytest.raises(errors.ShapeError, match=r"shape \(2,\) does not broadcast to \(2, 3\)"):
        x[[0, 1]] = [1.0, 2.0]
    for key in ([0], 0):
        with pytest.raises(errors.ShapeError, match="equal lengths at each level"):
            x[key] = [[1], [1, 2]]
        for value in (None, "a"):
            with pytest.raises(errors.DTypeError, match="unsupported dtype"):
                x[key] = value
    with pytest.raises(errors.BackendMismatchError):
        x[mt.tensor([0], backend="simple")]


# --- Scatter, gather and search -------------------------------------------------------------------

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "uint8", "bool"])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_scatter_reduce_matches_torch(
    backend: str, include_self: bool, reduce: str, dtype: str, data: st.DataObject
) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    part = tuple(
        data.draw(st.integers(0, 6 if d == dim % len(shape) else length))
        for d, length in enumerate(shape)
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    low = 0 if dtype in ("uint8", "bool") else -2  # few distinct values, for zeros and ties
    x = rng.integers(low, 3, shape).astype(dtype)
    # torch has gradients only if index and source have the same shape.
    extra = not dtype.startswith("float")
    source = rng.integers(low, 3, tuple(p + extra for p in part)).astype(dtype)
    if not include_self and not extra:
        x += 9  # torch gives an excluded element a share of the gradient if it is equal
    index = rng.integers(0, shape[dim], part)
    ours, theirs = both(x, backend), both(source, backend)
    at = both(index, backend)
    leaves = [ours[0], theirs[0]], [ours[1], theirs[1]]
    differentiable = dtype.startswith("float")
    if differentiable:
        for each in (*leaves[0], *leaves[1]):
            each.requires_grad_()
    if dtype == "bool" and reduce == "mean":
        with pytest.raises(errors.DTypeError):
            leaves[0][0].scatter_reduce(dim, at[0], leaves[0][1], reduce)
        return
    result, expected = (
        x.scatter_reduce(dim, index, src, reduce, include_self=include_self)
        for (x, src), index in zip(leaves, at, strict=True)
    )
    assert result.dtype.name == dtype
    assert np.allclose(result.detach(), expected.detach())
    if differentiable:
        weights = rng.integers(1, 5, shape).astype(dtype)
        (result * mt.tensor(weights, backend=backend)).sum().backward()
        (expected * torch.from_numpy(weights)).sum().backward()
        for actual, expected in zip(*leaves, strict=True):
            assert np.allclose(actual.grad, expected.grad)


def test_second_derivative_of_scatter_product_with_zeros_raises() -> None:
    x = mt.tensor([0.0, 2.0], requires_grad=True)
    y = mt.scatter_reduce(x, 0, mt.tensor([0, 1]), mt.tensor([3.0, 4.0]), "prod")
    with pytest.raises(GradientError, match="second derivative"):
        y.sum().backward(create_graph=True)


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool"])
def test_scatter_and_index_add_match_torch(dtype: str) -> None:
    rng = np.random.default_rng(0)
    ours, theirs = both(rng.integers(0, 2, (3, 4)).astype(dtype))
    index = rng.permutation(4)[None, :3]
    sources = both(rng.integers(0, 2, (2, 3)).astype(dtype))
    at = both(index)
    result = ours.scatter(1, at[0], sources[0])
    assert np.array_equal(result, theirs.scatter(1, at[1], sources[1]))
    assert result.dtype.name == dtype
    assert np.array_equal(ours.scatter(-1, at[0], 1), theirs.scatter(-1, at[1], 1))
    assert np.array_equal(ours.scatter(-1, at[0], value=1), theirs.scatter(-1, at[1], value=1))
    if dtype != "bool":
        where = both(np.array([1, 1, 0], np.int32))
        added = both(rng.integers(0, 2, (3, 3)).astype(dtype))
        assert np.array_equal(
            mt.index_add(ours, 1, where[0], added[0], alpha=2),
            torch.index_add(theirs, 1, where[1], added[1], alpha=2),
        )


@pytest.mark.parametrize(
    "call",
    [
        lambda x, index: x.gather(1, index),
        lambda x, index: x.scatter(1, index, -x),
        lambda x, index: x.scatter_add(1, index, x),
        lambda x, index: x.scatter_reduce(1, index, x, "amax"),
    ],
)
def test_index_of_int32_is_like_that_of_int64(call: Any) -> None:
    x = mt.arange(6.0).reshape(2, 3)
    index = mt.tensor([[2, 1, 0], [0, 2, 1]])
    assert call(x, index.int()).tolist() == call(x, index).tolist()
    with pytest.raises(errors.DTypeError, match="index of int64 or int32; int16 was given"):
        call(x, index.short())


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_index_add_of_integers_accepts_only_integral_factors(dtype: str) -> None:
    ours, theirs = both(np.ones((2, 3), dtype))
    at, sources = both(np.array([1, 1])), both(np.ones((2, 2), dtype))
    result = ours.index_add(1, at[0], sources[0], alpha=2.0)
    assert np.array_equal(result, theirs.index_add(1, at[1], sources[1], alpha=2.0))
    with pytest.raises(errors.DTypeError, match=r"alpha=1\.5 does not fit"):
        ours.index_add(1, at[0], sources[0], alpha=1.5)
    huge = ours.double().index_add(1, at[0], sources[0].double(), alpha=1e30)
    assert huge.tolist() == [[1, 2e30, 1], [1, 2e30, 1]]


def test_nonzero_masked_select_and_take_along_dim_match_torch() -> None:
    array = np.array([[0.0, np.nan, 2.0], [-1.0, 0.0, -0.0]])
    ours, theirs = both(array)
    assert np.array_equal(mt.nonzero(ours), torch.nonzero(theirs))
    pairs = zip(ours.nonzero(as_tuple=True), torch.nonzero(theirs, as_tuple=True), strict=True)
    assert all(np.array_equal(actual, expected) for actual, expected in pairs)
    for number in (0, 3):
        zero = both(np.array(number))
        assert mt.nonzero(zero[0]).shape == tuple(torch.nonzero(zero[1]).shape)
        assert len(zero[0].nonzero(as_tuple=True)) == 1
    assert ours.nonzero().dtype is mt.int64
    mask = both(np.array([[True], [False]]))
    selected = mt.masked_select(ours, mask[0])
    assert np.array_equal(selected, torch.masked_select(theirs, mask[1]), equal_nan=True)
    order = both(np.argsort(array[:1], 1))
    assert np.array_equal(
        mt.take_along_dim(ours, order[0], 1),
        torch.take_along_dim(theirs, order[1], 1),
        equal_nan=True,
    )
    flat = both(np.array([[4, 3]]))
    assert mt.take_along_dim(ours, flat[0]).tolist() == [0, -1]
    assert mt.take_along_dim(ours, flat[0].int()).tolist() == [0, -1]


@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0,)])
def test_one_hot_matches_torch(shape: tuple[int, ...]) -> None:
    ours, theirs = both(np.random.default_rng(0).integers(0, 4, shape))
    result = mt.one_hot(ours, 5)
    assert result.dtype is mt.int64
    assert result.shape == (*shape, 5)
    assert np.array_equal(result, torch.nn.functional.one_hot(theirs, 5))
    if shape != (0,):
        assert np.array_equal(mt.one_hot(ours), torch.nn.functional.one_hot(theirs))
    else:
        assert mt.one_hot(ours, 1).shape == (*shape, 1)


def test_scatter_mean_of_large_integers_is_exact():
    x = mt.tensor([0, 2**53 + 1])
    index = mt.tensor([0, 0])
    found = mt.zeros(1, dtype="int64").scatter_reduce(
        0, index[1:], x[1:], "mean", include_self=False
    )
    assert found.tolist() == [2**53 + 1]
    low = mt.tensor([-3]).scatter_reduce(0, index, mt.tensor([-1, -1]), "mean")
    assert low.tolist() == [-2]  # rounded down, as in torch
