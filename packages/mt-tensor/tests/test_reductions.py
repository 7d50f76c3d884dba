"""Reductions, cumulative operations and sorting, compared with torch."""

import math
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import mt_tensor as mt

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.filterwarnings("ignore:var|std"),
    pytest.mark.filterwarnings("ignore:.*degrees of freedom"),
    pytest.mark.filterwarnings("ignore:Using backward.. with create_graph"),
]

INF, NAN = math.inf, math.nan
LIBRARIES = (mt, torch)
FLOATS = ("float16", "float32", "float64")
DTYPES = (*FLOATS, "int64", "int32", "uint8", "bool")


def as_list(result: Any) -> list[Any]:
    """Return the tensors of a result, which may be a tuple, as a list."""
    return list(result) if isinstance(result, tuple) else [result]


def name_of(dtype: Any) -> str:
    return str(dtype).rsplit(".", 1)[-1].removesuffix("_")


def leaves(array: Any, dtype: str) -> tuple[Any, Any]:
    """Return the same tensor in both libraries, which requires grad if it is floating-point."""
    values = np.asarray(array)
    floating = dtype.startswith("float")
    ours = mt.tensor(values, dtype=dtype, requires_grad=floating)
    theirs = torch.tensor(values).to(getattr(torch, dtype)).requires_grad_(floating)
    return ours, theirs


def compare(call: Any, array: Any, dtype: str = "float32", gradient: bool = True) -> None:
    """Check that values, dtypes, shapes and the gradient of a call are equal in both libraries."""
    inputs = leaves(array, dtype)
    results = [as_list(call(x, library)) for x, library in zip(inputs, LIBRARIES, strict=True)]
    narrowest = min((x.dtype for x in (inputs[1], results[1][0])), key=lambda d: d.itemsize)
    tolerance = {torch.float16: 2e-3, torch.float64: 1e-12}.get(narrowest, 2e-5)
    for ours, theirs in zip(*results, strict=True):
        assert ours.shape == tuple(theirs.shape)
        assert name_of(ours.dtype) == name_of(theirs.dtype)
        np.testing.assert_allclose(
            np.array(ours.detach()), theirs.detach().numpy(), tolerance, tolerance
        )
    if not gradient or dtype == "float16" or not results[0][0].requires_grad:
        return
    for (first, *_), x in zip(results, inputs, strict=True):
        weights = np.cos(np.arange(first.detach().numpy().size)).reshape(first.shape)
        library = mt if isinstance(x, mt.Tensor) else torch
        (first * library.tensor(weights, dtype=first.dtype)).sum().backward()
    expected = inputs[1].grad
    if expected is None:
        expected = torch.zeros_like(inputs[1])
    ours = np.zeros_like(expected.numpy()) if inputs[0].grad is None else np.array(inputs[0].grad)
    np.testing.assert_allclose(ours, expected.numpy(), tolerance * 10, tolerance * 10)


MATRIX = np.array([[0.5, -2.0, 3.0], [1.0, 3.0, 0.0], [-1.0, 2.0, 0.25], [2.0, 0.75, -0.5]])

ON_ALL_DTYPES = {
    "sum": lambda x, _: x.sum(),
    "sum of a dimension": lambda x, _: x.sum(-1, True),
    "sum in float64": lambda x, lib: x.sum(0, dtype=lib.float64),
    "sum in int32": lambda x, lib: x.detach().sum(dtype=lib.int32),
    "sum over ()": lambda x, _: x.sum(()),
    "sum over []": lambda x, _: x.sum([], keepdim=True),
    "prod": lambda x, _: x.prod(),
    "prod of a dimension": lambda x, _: x.prod(1),
    "prod with keepdim": lambda x, _: x.prod(0, True),
    "prod in float32": lambda x, lib: x.prod(0, dtype=lib.float32),
    "mean in float64": lambda x, lib: x.mean(0, dtype=lib.float64),
    "all": lambda x, _: x.bool().all(0),
    "all over ()": lambda x, _: x.bool().all(()),
    "any": lambda x, _: x.bool().any(dim=(0, 1), keepdim=True),
    "count_nonzero": lambda x, _: x.count_nonzero(),
    "count_nonzero of a dimension": lambda x, lib: lib.count_nonzero(x, dim=1),
    "nansum": lambda x, _: x.nansum(1),
    "amax": lambda x, _: x.amax(0),
    "amin over ()": lambda x, _: x.amin(()),
    "max": lambda x, _: x.max(),
    "min of a dimension": lambda x, _: x.min(1, keepdim=True),
    "max of a dimension": lambda x, _: x.max(0),
    "max of two": lambda x, lib: lib.max(x, x.flip(0)),
    "min of two": lambda x, _: x.min(other=x[0]),
    "aminmax": lambda x, _: x.aminmax(),
    "aminmax of a dimension": lambda x, _: x.aminmax(dim=0, keepdim=True),
    "cumsum": lambda x, _: x.cumsum(0),
    "cumsum in float64": lambda x, lib: x.cumsum(1, dtype=lib.float64),
    "cumprod": lambda x, _: x.cumprod(1),
    "cumprod in float32": lambda x, lib: lib.cumprod(x, 0, dtype=lib.float32),
    "cummax": lambda x, _: x.cummax(0),
    "cummin": lambda x, _: x.cummin(1),
    "sort": lambda x, _: x.sort(stable=True, dim=-1),
    "sort descending": lambda x, _: x.sort(dim=0, descending=True, stable=True),
    "argsort": lambda x, _: x.argsort(dim=0, stable=True),
    "logsumexp": lambda x, _: x.logsumexp(0),
    "softmax in float32": lambda x, lib: x.softmax(0, dtype=lib.float32),
    "log_softmax in float64": lambda x, lib: lib.log_softmax(x, 1, dtype=lib.float64),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ON_ALL_DTYPES)
def test_reduction_matches_torch_on_every_dtype(name: str, dtype: str) -> None:
    array = np.abs(MATRIX) if dtype in ("uint8", "bool") else MATRIX
    compare(ON_ALL_DTYPES[name], array, dtype)


ON_FLOATS = {
    "mean": lambda x, _: x.mean(),
    "mean over ()": lambda x, _: x.mean(()),
    "mean of a dimension": lambda x, _: x.mean(-1, True),
    "nanmean": lambda x, _: x.nanmean(0, keepdim=True),
    "var": lambda x, _: x.var(),
    "var over []": lambda x, _: x.detach().var([]),  # torch's gradient is infinite
    "var, biased": lambda x, _: x.var(False),
    "var of a dimension": lambda x, _: x.var(0, True, True),
    "var with a correction": lambda x, _: x.var(dim=1, correction=0.5, keepdim=True),
    "var with too large a correction": lambda x, _: x.detach().var(correction=50),
    "std": lambda x, _: x.std((0, 1)),
    "std, biased": lambda x, _: x.std(0, unbiased=False),
    "std_mean": lambda x, lib: lib.std_mean(x, 0),
    "var_mean": lambda x, lib: lib.var_mean(x, dim=1, correction=0, keepdim=True),
    "var_mean, biased": lambda x, lib: lib.var_mean(x, False),
    "logcumsumexp": lambda x, _: x.logcumsumexp(0),
    "logsumexp over both": lambda x, lib: lib.logsumexp(x, (0, 1), keepdim=True),
    "median": lambda x, _: x.median(),
    "median of a dimension": lambda x, _: x.median(0, keepdim=True),
    "topk": lambda x, _: x.topk(2),
    "topk, smallest": lambda x, lib: lib.topk(x, 3, 0, largest=False),
    **{
        f"norm {p} of {dim}": lambda x, _, p=p, dim=dim: x.norm(p, dim)
        for p in ("fro", 1, 2, 3, 1.5, 0.5, -1, 0, INF, -INF)
        for dim in (None, 0, (0, 1))
    },
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ON_FLOATS)
def test_floating_point_reduction_matches_torch(name: str, dtype: str) -> None:
    distinct = MATRIX.reshape(-1)[:, None] * [1.0, 0.9] if "median" in name or "topk" in name else 0
    compare(ON_FLOATS[name], MATRIX if isinstance(distinct, int) else distinct, dtype)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.norm(0),
        lambda x: mt.linalg.vector_norm(x, 0, 1),
        lambda x: mt.cdist(x, x * 2, 0),
        lambda x: mt.pdist(x, 0),
    ],
)
def test_norms_and_distances_of_order_0_have_zero_gradient(call: Any) -> None:
    x = mt.tensor([[1.0, 0.0], [-2.0, NAN]], requires_grad=True)
    call(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 0], [0, 0]]
    assert x.norm(0).item() == 3


def test_corrcoef_of_proportional_rows_does_not_exceed_1() -> None:
    rows = mt.tensor(np.random.default_rng(0).standard_normal((3, 5)))
    coefficients = mt.corrcoef(mt.cat([rows, -3.0 * rows]))
    assert coefficients.max().item() == 1.0
    assert coefficients.min().item() == -1.0


@pytest.mark.parametrize("p", [0.001, 1, 2, 3, -1, INF])
def test_norm_of_single_element_is_its_magnitude_even_if_powers_overflow(p: float) -> None:
    x = mt.tensor([[-1e30], [1e-30], [0.0], [-INF]], requires_grad=True)
    norms = x.norm(p, 1)
    assert norms.tolist() == x.abs().flatten().tolist()
    norms.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[-1], [1], [0], [-1]]


@pytest.mark.parametrize("array", [[0.0, 0.0], [0.0, 2.0], [2.0, -2.0, 1.0], [1.0], []])
@pytest.mark.parametrize("p", [1, 2, 3, 1.5, 0.5, -1, 0, INF, -INF])
def test_norm_gradient_at_zeros_and_ties_matches_torch(array: list[float], p: float) -> None:
    if not array and (p < 0 or p == INF):
        with pytest.raises(mt.errors.IndexingError, match="at least one element"):
            mt.tensor(array).norm(p)
        return
    compare(lambda x, _: x.norm(p), np.array(array))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, _: x.max(),
        lambda x, _: x.max(0),
        lambda x, _: x.min(0),
        lambda x, _: x.argmax(),
        lambda x, _: x.argmin(0, True),
        lambda x, _: x.cummax(0),
        lambda x, _: x.cummin(0),
        lambda x, _: x.sort(stable=True),
        lambda x, _: x.sort(descending=True, stable=True),
        lambda x, _: x.topk(1),
        lambda x, _: x.topk(2, largest=False)[0],
        lambda x, _: x.median(),
        lambda x, _: x.nansum(),
        lambda x, _: x.nanmean(),
        lambda x, _: x.cumsum(0),
        lambda x, _: x.cumprod(0),
        lambda x, _: x.logsumexp(0),
        lambda x, _: x.norm(),
        lambda x, _: x.norm(INF),
        lambda x, _: x.count_nonzero(),
        lambda x, _: x.prod(),
        lambda x, _: x.aminmax(),
    ],
)
@pytest.mark.parametrize("array", [[3.0, NAN, 1.0, 2.0], [NAN, 1.0, NAN], [2.0, INF, -1.0]])
def test_reduction_of_nan_and_infinity_matches_torch(call: Any, array: list[float]) -> None:
    compare(call, np.array(array), gradient=False)


@pytest.mark.parametrize(
    ("call", "array"),
    [
        (lambda x, _: x.max(), [1.0, NAN, NAN]),
        (lambda x, _: x.max(), [2.0, 2.0, 1.0]),
        (lambda x, _: x.max(0), [2.0, 2.0, 1.0]),
        (lambda x, _: x.aminmax(), [1.0, 1.0, 2.0]),
        (lambda x, _: x.median(), [1.0, 2.0, 2.0, 3.0]),
        (lambda x, _: x.cummax(0), [1.0, 1.0, 0.0, 1.0]),
        (lambda x, _: x.std(), [1.0, 1.0]),
        (lambda x, _: x.std(), [1.0]),
        (lambda x, _: x.nansum(), [NAN, 1.0]),
        (lambda x, _: x.nanmean(), [NAN, 1.0, 2.0]),
        (lambda x, _: x.prod(), [0.0, 2.0, 3.0]),
        (lambda x, _: x.prod(), [0.0, 2.0, 0.0]),
        (lambda x, _: x.cumprod(0), [0.0, 2.0, 0.0, 3.0]),
        (lambda x, _: x.logsumexp(0), [-INF, 1.0]),
        (lambda x, _: x.logsumexp(0), [1000.0, 1000.0]),
        (lambda x, _: x.logcumsumexp(0), [1000.0, -1000.0, 1001.0]),
        (lambda x, _: x.logcumsumexp(0), [-INF, 1.0, 2.0]),
    ],
)
def test_gradient_at_ties_nan_and_zeros_matches_torch(call: Any, array: list[float]) -> None:
    compare(call, np.array(array))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.prod(0),
        lambda x: x.prod(),
        lambda x: x.cumprod(0),
        lambda x: (x + 0.1).logcumsumexp(0),  # torch is wrong where the gradient is 0
        lambda x: x.logsumexp(0),
        lambda x: x.norm(3),
        lambda x: x.std(0),
        lambda x: x.cumsum(0).square(),
    ],
)
@pytest.mark.parametrize("array", [[0.0, 2.0, 3.0, 1.0], [0.0, 2.0, 0.0, 3.0], [1.5, -1, 2, 0.5]])
def test_second_derivatives_of_reductions_match_torch(call: Any, array: list[float]) -> None:
    results = []
    for x in leaves(array, "float64"):
        call(x).square().sum().backward(create_graph=True)
        first, x.grad = x.grad, None
        (first * first).sum().backward()
        results.append(x.grad.detach().numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-9, atol=1e-9)


EMPTY = {
    "sum": lambda x, _: x.sum(0),
    "prod": lambda x, _: x.prod(),
    "prod of a dimension": lambda x, _: x.prod(0),
    "mean": lambda x, _: x.mean(0),
    "var": lambda x, _: x.var(0),
    "all": lambda x, _: x.all(),
    "any": lambda x, _: x.any(0),
    "max": lambda x, _: x.max(1),
    "median": lambda x, _: x.median(),
    "median of a dimension": lambda x, _: x.median(1),
    "cumsum": lambda x, _: x.cumsum(0),
    "cumprod": lambda x, _: x.cumprod(1),
    "cummax": lambda x, _: x.cummax(0),
    "cummin": lambda x, _: x.cummin(1),
    "logsumexp": lambda x, _: x.logsumexp(0),
    "logsumexp of dimension 1": lambda x, _: x.logsumexp(1),
    "logcumsumexp": lambda x, _: x.logcumsumexp(0),
    "sort": lambda x, _: x.sort(0),
    "argsort": lambda x, _: x.argsort(),
    "topk": lambda x, _: x.topk(0, 0),
    "norm": lambda x, _: x.norm(3, 0),
    "nansum": lambda x, _: x.nansum(),
    "count_nonzero": lambda x, _: x.count_nonzero(1),
}


@pytest.mark.parametrize("name", EMPTY)
def test_reduction_of_empty_tensor_matches_torch(name: str) -> None:
    compare(EMPTY[name], np.zeros((0, 3)))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, _: x.sum(-1),
        lambda x, _: x.prod(0),
        lambda x, _: x.max(0),
        lambda x, _: x.min(-1, True),
        lambda x, _: x.aminmax(dim=0),
        lambda x, _: x.median(0),
        lambda x, _: x.cumsum(0),
        lambda x, _: x.cumprod(-1),
        lambda x, _: x.cummax(0),
        lambda x, _: x.logcumsumexp(0),
        lambda x, _: x.logsumexp(0),
        lambda x, _: x.sort(),
        lambda x, _: x.topk(1),
        lambda x, _: x.topk(0),
        lambda x, _: x.norm(dim=0),
        lambda x, _: x.softmax(0),
        lambda x, _: x.var(0),
        lambda x, _: x.all(()),
        lambda x, _: x.count_nonzero(0),
    ],
)
@pytest.mark.parametrize("value", [2.0, 0.0])
def test_reduction_of_0d_tensor_matches_torch(call: Any, value: float) -> None:
    compare(call, np.array(value))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: x.sum(2), mt.errors.IndexingError),
        (lambda x: x.sum(0.0), TypeError),
        (lambda x: x.sum(True), TypeError),
        (lambda x: x.all(True), TypeError),
        (lambda x: x.sum("a"), TypeError),
        (lambda x: x.sum(""), TypeError),
        (lambda x: x.sort(True), TypeError),
        (lambda x: x.cumsum(True), TypeError),
        (lambda x: x.cumsum(None), TypeError),
        (lambda x: x.sum(x), TypeError),
        (lambda x: x.sum((0, 0)), mt.errors.IndexingError),
        (lambda x: x.long().mean(), mt.errors.DTypeError),
        (lambda x: x.mean(dtype=x.long().dtype), mt.errors.DTypeError),
        (lambda x: x.var(0, 1), TypeError),
        (lambda x: x.var(0, unbiased=True, correction=1), TypeError),
        (lambda x: x.var(correction="a"), TypeError),
        (lambda x: x.std(2), mt.errors.IndexingError),
        (lambda x: x.long().std(), mt.errors.DTypeError),
        (lambda x: x.prod((0, 1)), TypeError),
        (lambda x: x.max((0, 1)), TypeError),
        (lambda x: x.max(2.0), TypeError),
        (lambda x: x.max(5), mt.errors.IndexingError),
        (lambda x: x[:0].max(), mt.errors.IndexingError),
        (lambda x: x[:0].min(0), mt.errors.IndexingError),
        (lambda x: x[:0].aminmax(), mt.errors.IndexingError),
        (lambda x: x[:0].argmax(), mt.errors.IndexingError),
        (lambda x: x[:0].median(0), mt.errors.IndexingError),
        (lambda x: x.aminmax(0), TypeError),
        (lambda x: x.cumsum(), TypeError),
        (lambda x: x.cumsum(0.5), TypeError),
        (lambda x: x.cumprod(2), mt.errors.IndexingError),
        (lambda x: x.long().cumsum(0, dtype=x.bool().dtype), mt.errors.DTypeError),
        (lambda x: x.long().logcumsumexp(0), mt.errors.DTypeError),
        (lambda x: x.logsumexp(), TypeError),
        (lambda x: x.sort(dim="a"), TypeError),
        (lambda x: x.sort(3), mt.errors.IndexingError),
        (lambda x: x.topk(4), mt.errors.ShapeError),
        (lambda x: x.topk(-1), mt.errors.ShapeError),
        (lambda x: x.topk(2.0), TypeError),
        (lambda x: x.norm("a"), TypeError),
        (lambda x: x.long().norm(), mt.errors.DTypeError),
        (lambda x: x.bool().median(), mt.errors.DTypeError),
        (lambda x: x.long().softmax(0), mt.errors.DTypeError),
        (lambda x: x.long().nanmean(), mt.errors.DTypeError),
    ],
)
def test_invalid_call_raises_here_and_in_torch(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(mt.ones(2, 3))
    with pytest.raises((TypeError, IndexError, RuntimeError)):
        call(torch.ones(2, 3))


FUNCTIONS = ["sum", "mean", "prod", "nansum", "max", "min", "amax", "argmax", "all", "any", "var"]
FUNCTIONS += ["std_mean", "norm", "count_nonzero", "median", "sort", "argsort", "softmax", "topk"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_rejects_list_input(name: str) -> None:
    arguments = {"cummax": (0,), "cumsum": (0,), "logsumexp": (0,), "softmax": (0,), "topk": (1,)}
    with pytest.raises(TypeError, match="takes tensors"):
        getattr(mt, name)([1.0, 2.0], *arguments.get(name, ()))


def test_results_of_sort_max_and_aminmax_are_named_tuples() -> None:
    values, indices = mt.tensor([3.0, 1.0, 2.0]).sort()
    assert (values.tolist(), indices.tolist()) == ([1.0, 2.0, 3.0], [1, 2, 0])
    assert mt.tensor([3.0, 1.0]).max(0).indices.item() == 0
    low, high = mt.tensor([3.0, 1.0]).aminmax()
    assert (low.item(), high.item()) == (1.0, 3.0)
    assert mt.tensor([3.0, 1.0]).aminmax().max.item() == 3.0


def test_float16_reduction_is_computed_in_higher_precision() -> None:
    x = mt.full((4,), 300.0, dtype="float16")
    assert x.norm().item() == 600.0  # 300**2 overflows float16, which ends at 65,504
    assert x.std().item() == 0.0
    assert mt.tensor([300.0, -300.0], dtype="float16").std(unbiased=False).item() == 300.0
    assert mt.tensor([300.0, 300.0, 0.001], dtype="float16").prod().item() == pytest.approx(90, 0.1)


SHAPES = array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)
SMALL = st.integers(-3, 3).map(float)


@settings(max_examples=60, deadline=None)
@given(
    arrays("float64", SHAPES, elements=SMALL),
    st.sampled_from(["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"]),
    st.data(),
)
def test_cumulative_operation_of_random_shape_matches_torch(
    array: Any, name: str, data: st.DataObject
) -> None:
    dim = data.draw(st.integers(-array.ndim, array.ndim - 1))
    compare(lambda x, _: getattr(x, name)(dim), array, "float64")


@settings(max_examples=60, deadline=None)
@given(
    arrays("float64", SHAPES, elements=st.one_of(SMALL, st.just(NAN))),
    st.booleans(),
    st.data(),
)
def test_sorting_of_random_shape_matches_torch(
    array: Any, descending: bool, data: st.DataObject
) -> None:
    dim = data.draw(st.integers(-array.ndim, array.ndim - 1))
    k = data.draw(st.integers(0, array.shape[dim]))
    options = {"dim": dim, "descending": descending, "stable": True}
    compare(lambda x, _: x.sort(**options), array, "float64")
    compare(lambda x, _: x.argsort(**options), array, "float64")
    compare(lambda x, _: x.topk(k, dim, descending)[0], array, "float64", gradient=False)
    compare(lambda x, _: x.median(dim)[0], array, "float64", gradient=False)


@settings(max_examples=80, deadline=None)
@given(
    arrays("float64", SHAPES, elements=SMALL),
    st.sampled_from(["prod", "logsumexp", "max", "min", "sum", "mean", "var", "std", "norm"]),
    st.booleans(),
    st.data(),
)
def test_reduction_of_random_shape_matches_torch(
    array: Any, name: str, keepdim: bool, data: st.DataObject
) -> None:
    dim = data.draw(st.integers(-array.ndim, array.ndim - 1))
    compare(lambda x, _: operator.methodcaller(name, dim=dim, keepdim=keepdim)(x), array, "float64")


@pytest.mark.parametrize("backend", ["simple", "numpy"])
def test_long_softmax_of_float16_does_not_overflow(backend):
    x = mt.zeros(70_000 if backend == "numpy" else 4_000, dtype="float16", backend=backend) + 3.0
    expected = np.float16(1 / len(x))
    assert (x.softmax(0).numpy() == expected).all()
    assert (x.log_softmax(0).numpy() == np.float16(-np.log(len(x)))).all()


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "median"])
def test_grad_fn_of_extremes_and_median_has_name_of_the_operation(name: str) -> None:
    x = mt.ones(2, 3, requires_grad=True)
    assert repr(getattr(x, name)().grad_fn) == f"<{name.capitalize()}>"
