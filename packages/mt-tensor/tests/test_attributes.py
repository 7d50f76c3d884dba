"""Rotations, order statistics, counts, new tensors and queries, compared with torch."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from hypothesis.extra.numpy import arrays as any_arrays

import mt_tensor as mt
from mt_tensor.core.dtypes import DTYPES
from mt_tensor.errors import ShapeError

torch = pytest.importorskip("torch")

LIBRARIES = (mt, torch)
INF, NAN = math.inf, math.nan


def as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def attempt(call: Callable[..., Any], library: Any, args: list[Any]) -> Any:
    """Return the results as a list, or None if the call raises."""
    try:
        return as_list(call(library, *args))
    except (TypeError, ValueError, IndexError, RuntimeError):
        return None


def compare(call: Callable[..., Any], *arrays: Any) -> None:
    """Check that a call has equal results and gradients, or raises, in both libraries."""
    floating = arrays[0].dtype.kind == "f"
    inputs = (
        [mt.tensor(a, requires_grad=floating) for a in arrays],
        [torch.tensor(a, requires_grad=floating) for a in arrays],
    )
    results = [attempt(call, lib, args) for lib, args in zip(LIBRARIES, inputs, strict=True)]
    assert (results[0] is None) == (results[1] is None), results
    if results[0] is None:
        return
    for ours, theirs in zip(*results, strict=True):
        assert f"torch.{ours.dtype.name}" == str(theirs.dtype)
        assert ours.shape == tuple(theirs.shape)
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), 1e-6, 1e-6)
    ours, theirs = results[0][0], results[1][0]
    if not ours.requires_grad or not theirs.requires_grad:
        return
    weights = np.cos(np.arange(math.prod(ours.shape))).reshape(ours.shape).astype(ours.dtype.name)
    ours.backward(mt.tensor(weights))
    theirs.backward(torch.tensor(weights))
    for our_input, their_input in zip(*inputs, strict=True):
        np.testing.assert_allclose(our_input.grad.numpy(), their_input.grad.numpy(), 1e-6, 1e-6)


def distinct(*shape: int) -> Any:
    size = math.prod(shape)
    return (np.random.default_rng(size).permutation(size) * 0.5 - 1).reshape(shape)


SHAPES = [(), (3,), (0,), (2, 3), (3, 1), (2, 0), (2, 3, 4)]
OPERATIONS: dict[str, Callable[..., Any]] = {
    "t": lambda lib, x: lib.t(x),
    "x.t": lambda lib, x: x.t(),
    "adjoint": lambda lib, x: lib.adjoint(x),
    "fliplr": lambda lib, x: lib.fliplr(x),
    "flipud": lambda lib, x: x.flipud(),
    "ravel": lambda lib, x: lib.ravel(x),
    "rot90": lambda lib, x: lib.rot90(x),
    "rot90, k=3": lambda lib, x: x.rot90(3, (1, 0)),
    "rot90, k=5": lambda lib, x: x.rot90(5, [0, -1]),
    "rot90, k=-2": lambda lib, x: x.rot90(-2, [0, 1]),
    "rot90, one dim": lambda lib, x: x.rot90(1, [0]),
    "rot90, repeated dim": lambda lib, x: x.rot90(1, [0, 0]),
    "select": lambda lib, x: lib.select(x, 0, 1),
    "select, last": lambda lib, x: x.select(-1, -1),
    "select, out of range": lambda lib, x: x.select(1, 7),
    "moveaxis": lambda lib, x: lib.moveaxis(x, 0, -1),
    "diagflat": lambda lib, x: lib.diagflat(x, 1),
    "diag_embed": lambda lib, x: lib.diag_embed(x),
    "diag_embed, offset": lambda lib, x: x.diag_embed(-2, 0, -1),
    "diag_embed, swapped dims": lambda lib, x: x.diag_embed(1, 1, 0),
    "diag_embed, equal dims": lambda lib, x: x.diag_embed(1, 1, 1),
    "diff": lambda lib, x: lib.diff(x),
    "diff, n=2": lambda lib, x: x.diff(2, 0),
    "diff, n=0": lambda lib, x: x.diff(0),
    "diff, prepend and append": lambda lib, x: lib.diff(x, dim=0, prepend=x, append=x),
    "diff, n=-1": lambda lib, x: x.diff(-1),
    "take": lambda lib, x: lib.take(x, lib.tensor([[0, -1], [2, 2]])),
    "take, out of range": lambda lib, x: x.take(lib.tensor([99])),
    "take, float index": lambda lib, x: x.take(lib.tensor([1.0])),
    "select_scatter": lambda lib, x: lib.select_scatter(x, x.select(0, 1) * 2, 0, -1),
    "select_scatter, wrong shape": lambda lib, x: x.select_scatter(x, 0, -1),
    "slice_scatter": lambda lib, x: lib.slice_scatter(x, x[::2] * 2, 0, None, None, 2),
    "slice_scatter, negative start": lambda lib, x: x.slice_scatter(x[..., 1:2] * 2, -1, -1),
    "diagonal_scatter": lambda lib, x: lib.diagonal_scatter(x, x.diagonal() * 2),
    "diagonal_scatter, offset": lambda lib, x: x.diagonal_scatter(x.diagonal(-1, 1) * 2, -1, 1, 0),
    "msort": lambda lib, x: lib.msort(x),
    "kthvalue": lambda lib, x: lib.kthvalue(x, 2),
    "kthvalue, keepdim": lambda lib, x: x.kthvalue(1, 0, True),
    "kthvalue, out of range": lambda lib, x: x.kthvalue(9),
    "unique": lambda lib, x: lib.unique(x, return_inverse=True, return_counts=True),
    "unique, dim=0": lambda lib, x: x.unique(dim=0, return_inverse=True, return_counts=True),
    "unique_consecutive": lambda lib, x: lib.unique_consecutive(
        x, return_inverse=True, return_counts=True
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_movement_and_order_operations_match_torch(name: str, shape: tuple[int, ...]) -> None:
    if name == "adjoint" and not shape:
        return  # deprecated in torch
    if name == "unique, dim=0" and 0 in shape:
        return  # torch raises for empty rows
    compare(OPERATIONS[name], distinct(*shape))


def test_argwhere_matches_torch() -> None:
    for shape in SHAPES:
        compare(lambda lib, x: lib.argwhere(x > 0), distinct(*shape))


def test_transposes_select_and_ravel_return_views() -> None:
    x = mt.arange(6.0).view(2, 3)
    for view in (x.t(), x.H, x.mH, x.adjoint(), x.select(0, 1), x.ravel()):
        assert view.data_ptr() - x.data_ptr() in range(24)
        array = np.asarray(view)
        x.mul_(2)
        assert np.array_equal(view, array)
    assert x.T.ravel().is_contiguous()


@pytest.mark.parametrize("shape", [(2, 3), (3,), (2, 2, 2)])
def test_adjoint_attributes_match_torch(shape: tuple[int, ...]) -> None:
    for name in ("H", "mH"):
        if name == "mH" and len(shape) == 1:
            with pytest.raises(ShapeError, match="at least 2"):
                _ = mt.zeros(shape).mH
        else:
            compare(lambda lib, x, name=name: getattr(x, name), distinct(*shape))


@given(any_arrays(np.int64, array_shapes(max_dims=3, max_side=4), elements=st.integers(-2, 2)))
def test_unique_and_unique_consecutive_match_torch(array: Any) -> None:
    options = {"return_inverse": True, "return_counts": True}
    for name in ("unique", "unique_consecutive"):
        compare(lambda lib, x, name=name: getattr(lib, name)(x, **options), array)
        compare(lambda lib, x, name=name: getattr(x, name)(), array)
        for dim in range(array.ndim):
            compare(lambda lib, x, n=name, d=dim: getattr(x, n)(dim=d, **options), array)


def test_unique_keeps_every_nan() -> None:
    compare(lambda lib, x: lib.unique(x, return_counts=True), np.array([NAN, 1.0, NAN, 1.0]))
    compare(lambda lib, x: x.unique_consecutive(return_counts=True), np.array([NAN, NAN, 1.0, 1.0]))


@given(any_arrays(np.int64, st.integers(0, 6), elements=st.integers(-1, 5)), st.integers(0, 7))
def test_bincount_matches_torch(array: Any, minlength: int) -> None:
    compare(lambda lib, x: lib.bincount(x, minlength=minlength), array)
    for dtype in ("float32", "float64", "int32") if len(array) else ():
        weights = np.arange(len(array)).astype(dtype) + 1
        compare(lambda lib, x, w=weights: x.bincount(lib.tensor(w)), array)


BAD_COUNTS = [
    lambda lib, x: x.float().bincount(),
    lambda lib, x: x[None].bincount(),
    lambda lib, x: x.bincount(x[:1]),
    lambda lib, x: x.bincount(minlength=-1),
    lambda lib, x: x.bool().bincount(),
]


@pytest.mark.parametrize("call", BAD_COUNTS)
def test_bincount_raises_where_torch_raises(call: Callable[..., Any]) -> None:
    for lib in LIBRARIES:
        assert attempt(call, lib, [lib.tensor([1, 2])]) is None


QUANTILES = [0.0, 0.1, 0.25, 0.5, 0.77, 1.0]


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantile_and_nanquantile_match_torch(name: str, interpolation: str) -> None:
    for dtype in ("float32", "float64"):
        for shape in ((5,), (2, 3), (4, 1), (2, 11, 2), ()):
            array = distinct(*shape).astype(dtype)
            for q in QUANTILES:
                for dim, keepdim in ((None, False), (None, True), (0, False), (-1, True)):
                    compare(
                        lambda lib, x, q=q, d=dim, k=keepdim: getattr(lib, name)(
                            x, q, d, k, interpolation=interpolation
                        ),
                        array,
                    )
            compare(
                lambda lib, x: getattr(x, name)(
                    lib.tensor(np.array(QUANTILES, x.detach().numpy().dtype)),
                    0,
                    interpolation=interpolation,
                ),
                array,
            )
            compare(
                lambda lib, x: getattr(x, name)(
                    lib.tensor(np.array(QUANTILES, x.detach().numpy().dtype)), keepdim=True
                ),
                array,
            )


@pytest.mark.parametrize("interpolation", ["linear", "midpoint"])
def test_quantile_gradient_between_equal_elements_matches_torch(interpolation: str) -> None:
    for q in (0.3, 0.6):
        compare(
            lambda lib, x, q=q: x.quantile(q, interpolation=interpolation),
            np.array([1.0, 2.0, 2.0]),
        )


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantile_of_nan_and_inf_matches_torch(name: str) -> None:
    array = np.array([[1.0, NAN, 3.0, 0.0], [NAN] * 4, [INF, -INF, INF, 1.0], [INF] * 4])
    for q in (0.0, 0.3, 0.5, 1.0):
        for interpolation in ("linear", "lower", "nearest"):
            inputs = [lib.tensor(array) for lib in LIBRARIES]
            results = [getattr(x, name)(q, 1, interpolation=interpolation).tolist() for x in inputs]
            if interpolation == "linear":  # torch returns nan between equal infinities
                results = [
                    [r for r, row in zip(x, array, strict=True) if INF not in row] for x in results
                ]
            np.testing.assert_allclose(*results)


def test_quantile_raises_where_torch_raises() -> None:
    x = np.array([1.0, 2.0])
    compare(lambda lib, x: x.quantile(1.5), x)
    compare(lambda lib, x: x.quantile(lib.tensor([0.5])), x)
    compare(lambda lib, x: x.long().quantile(0.5), x)
    compare(lambda lib, x: x.half().quantile(0.5), x)
    compare(lambda lib, x: x[:0].quantile(0.5), x)
    compare(lambda lib, x: x.quantile(0.5, 1), x)
    compare(lambda lib, x: x.quantile(0.5, interpolation="mean"), x)


def test_diff_of_bool_matches_torch() -> None:
    compare(lambda lib, x: lib.diff(x), np.array([[True, False, False], [True, True, False]]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_and_size_queries_match_torch(dtype: str) -> None:
    ours, theirs = mt.ones(2, 3, dtype=dtype), torch.ones(2, 3, dtype=getattr(torch, dtype))
    for name in ("is_signed", "is_complex", "is_floating_point", "ndimension", "nelement", "dim"):
        assert getattr(ours, name)() == getattr(theirs, name)()
    for name in ("is_signed", "is_complex", "is_floating_point", "is_tensor", "numel"):
        assert getattr(mt, name)(ours) == getattr(torch, name)(theirs)
    assert ours.is_same_size(mt.zeros(2, 3))
    assert not ours.is_same_size(mt.zeros(3, 2))
    assert ours[0, 0].is_nonzero()
    assert not mt.is_nonzero(mt.zeros(1, 1, dtype=dtype))
    assert not mt.is_tensor(np.zeros(2))
    with pytest.raises(ShapeError, match="a single element"):
        ours.is_nonzero()
    with pytest.raises(TypeError, match="takes tensors"):
        mt.numel(3)  # type: ignore[arg-type]


def test_new_methods_keep_dtype_and_backend() -> None:
    for backend in ("numpy", "simple"):
        x = mt.zeros(2, dtype="int16", backend=backend)
        created = {
            "new_zeros": x.new_zeros(2, 3),
            "new_ones": x.new_ones((2, 3)),
            "new_full": x.new_full((2, 3), 7),
            "new_empty": x.new_empty(2, 3),
            "new_tensor": x.new_tensor([[1, 2, 3], [4, 5, 6]]),
        }
        for name, tensor in created.items():
            assert tensor.shape == (2, 3), name
            assert tensor.dtype is mt.int16, name
            assert tensor.backend is x.backend, name
        assert created["new_full"].tolist() == [[7] * 3] * 2
        assert created["new_ones"].tolist() == [[1] * 3] * 2
        assert created["new_tensor"].tolist() == [[1, 2, 3], [4, 5, 6]]
        other = x.new_ones(1, dtype="float64", requires_grad=True, backend="numpy")
        assert (other.dtype.name, other.requires_grad, other.backend.name) == (
            "float64",
            True,
            "numpy",
        )
    with pytest.raises(ShapeError, match="non-negative"):
        mt.zeros(1).new_zeros(-1)


# --- Dtype names, legacy constructors and limits --------------------------------------------------


@pytest.mark.parametrize("name", ["bool", "double", "float", "half", "int", "long", "short"])
def test_dtype_aliases_match_torch(name):
    assert getattr(mt, name).name == str(getattr(torch, name)).removeprefix("torch.")
    x = mt.tensor([0, 1])
    assert x.to(getattr(mt, name)).dtype is getattr(x, name)().dtype
    assert x.type(getattr(mt, name)).dtype is getattr(mt, name)
    assert x.type(x.float().type()).dtype is mt.float32


LEGACY_TYPES = ["Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"]


@pytest.mark.parametrize("name", [f"{dtype}Tensor" for dtype in LEGACY_TYPES] + ["Tensor"])
def test_legacy_constructors_take_sizes_or_data(name):
    ours, theirs = getattr(mt, name), getattr(torch, name)
    for args in [(2, 3), (4,), (), ([1, 0],), ((),), ([[1], [0]],), (0, 2)]:
        result, expected = ours(*args), theirs(*args)
        assert result.shape == tuple(expected.shape)
        assert f"torch.{result.dtype.name}" == str(expected.dtype)
        if args and not isinstance(args[0], int):
            assert result.tolist() == expected.tolist()
    with pytest.raises(TypeError, match=rf"^{name}\(\) takes integers, the sizes"):
        ours([1], [2])
    with pytest.raises(ShapeError):
        ours(-1)


def test_new_keeps_dtype_and_backend():
    x = mt.ones(2, dtype="float64", backend="simple")
    for created in (x.new(3, 1), x.new([[1.0], [2.0], [3.0]])):
        assert (created.dtype, created.backend, created.shape) == (x.dtype, x.backend, (3, 1))


def test_shape_is_a_size():
    assert mt.ones(2, 3).shape == mt.Size([2, 3])


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_matches_torch(name):
    ours, theirs = mt.finfo(getattr(mt, name)), torch.finfo(getattr(torch, name))
    for limit in ("bits", "max", "min", "eps", "tiny", "smallest_normal", "resolution", "dtype"):
        assert getattr(ours, limit) == pytest.approx(getattr(theirs, limit))
    assert mt.finfo().dtype == "float32"
    with pytest.raises(mt.errors.DTypeError, match="floating-point"):
        mt.finfo(mt.int64)


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_iinfo_matches_torch(name):
    ours, theirs = mt.iinfo(getattr(mt, name)), torch.iinfo(getattr(torch, name))
    for limit in ("bits", "max", "min", "dtype"):
        assert getattr(ours, limit) == getattr(theirs, limit)
    with pytest.raises(mt.errors.DTypeError, match="integer"):
        mt.iinfo(mt.float32)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "uint16", "int64", "bfloat16", "double"]
)
def test_type_without_arguments_returns_torchs_name(dtype):
    assert mt.zeros(1, dtype=dtype).type() == torch.zeros(1, dtype=getattr(torch, dtype)).type()
