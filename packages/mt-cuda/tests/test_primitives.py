"""The primitives of the backend on every machine, compared with the numpy backend."""

import itertools
import zlib

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.core.layout import index_type
from mt_operators import OPERATORS
from mt_operators.testing import INTEGER_SPECS, SPECIAL, SPECS, TOLERANCE
from mt_tensor import TensorData
from mt_tensor.backends import get_backend
from mt_tensor.backends.extending import cast_array, row_major, to_float32
from mt_tensor.extending import DTYPES, as_dtype

NUMPY = get_backend("numpy")
ALL_SPECS = [pytest.param(spec, id=spec.name) for spec in SPECS.values()]
DIFFERENTIABLE = [row for row in ALL_SPECS if OPERATORS[str(row.id)].result != "bool"]
UPDATES = ("add", "mul", "maximum", "minimum")


def small_integers(shape, dtype, seed=0):
    values = np.random.default_rng(seed).integers(-3, 4, shape)
    return cast_array(values, DTYPES[dtype])


def upload(backend, array):
    return backend.from_host(array)


def permuted(data):
    return data.permute(*reversed(range(data.ndim)))


def flipped(data):
    if data.size == 0:
        return data
    return data.slice(tuple(e - 1 for e in data.shape), (-1,) * data.ndim, data.shape)


def stepped(data):
    return data.slice((0,) * data.ndim, (2,) * data.ndim, tuple((e + 1) // 2 for e in data.shape))


def shifted(data):
    return data.slice(
        tuple(min(1, e) for e in data.shape),
        (1,) * data.ndim,
        tuple(max(e - 1, 0) for e in data.shape),
    )


VIEWS = {
    "contiguous": lambda data: data,
    "permuted": permuted,
    "flipped": flipped,
    "stepped": stepped,
    "shifted": shifted,
}
SHAPES = [(), (1,), (40,), (0,), (4, 9), (3, 0, 2), (2, 3, 2, 3, 2)]


def view_on_both_backends(ops, array, view):
    """Return a view of an array on this backend and on the numpy backend."""
    return VIEWS[view](upload(ops, array)), VIEWS[view](upload(NUMPY, array))


def assert_same(ops, ours, theirs, tolerance=0.0):
    found, wanted = (to_float32(b.to_host(x)) for b, x in ((ops, ours), (NUMPY, theirs)))
    np.testing.assert_allclose(found.astype("f8"), wanted.astype("f8"), tolerance, tolerance)


# --- Elementwise --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("spec", ALL_SPECS)
def test_operator_on_special_values_matches_numpy(ops, spec, dtype):
    values = (*SPECIAL, 2.5, -3.0, 800.0, 1e-3)
    columns = np.array(list(itertools.product(values, repeat=len(spec.ranges))), dtype).T
    arrays = [np.array(column) for column in columns]
    if spec.name == "where":
        arrays[0] = arrays[0] > 0
    out = mt.bool_ if OPERATORS[spec.name].result == "bool" else as_dtype(dtype)
    ours = ops.empty(arrays[0].shape, out)
    ops.elementwise(OPERATORS[spec.name].value)([ours], *[upload(ops, a) for a in arrays])
    with np.errstate(all="ignore"):
        wanted = np.asarray(spec.oracle(np, *(a.astype("f8") for a in arrays))).astype(out.numpy)
    np.testing.assert_allclose(
        ops.to_host(ours).astype("f8"), wanted.astype("f8"), TOLERANCE[dtype], TOLERANCE[dtype]
    )


@pytest.mark.parametrize("spec", DIFFERENTIABLE)
def test_fused_gradient_matches_numpy_backend(ops, spec):
    operator = OPERATORS[spec.name]
    rng = np.random.default_rng(zlib.crc32(spec.name.encode()))
    arrays = [rng.uniform(low, high, (5, 9)).astype("f4") for low, high in spec.ranges]
    if spec.name == "where":
        arrays[0] = arrays[0] > 0.5
    upstream = rng.standard_normal((5, 9)).astype("f4")
    out = NUMPY.empty((5, 9), mt.float32)
    NUMPY.elementwise(operator.value)([out], *[upload(NUMPY, a) for a in arrays])
    known = [upstream, *arrays, np.array(NUMPY.to_host(out))]
    for view in ("contiguous", "shifted", "flipped"):
        formula = operator.gradient((True,) * operator.arity)
        results = []
        for backend in (ops, NUMPY):
            inputs = [VIEWS[view](upload(backend, a)) for a in known]
            results.append([backend.empty(inputs[0].shape, mt.float32) for _ in arrays])
            backend.elementwise(formula)(results[-1], *inputs)
        for ours, theirs in zip(*results, strict=True):
            assert_same(ops, ours, theirs, 2e-5)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int8", "uint8"])
def test_elementwise_passes_python_numbers_by_value(ops, dtype, view, monkeypatch):
    x, number = np.arange(36).reshape(4, 9).astype(dtype), 3
    formula, element = OPERATORS["sub"].value, DTYPES[dtype]
    ours, theirs = view_on_both_backends(ops, x, view)
    wanted = NUMPY.elementwise(formula)(row_major(theirs.shape, element), number, theirs)
    monkeypatch.setattr(ops.machine, "upload", None)  # numbers are passed by value
    result = ops.elementwise(formula)(row_major(ours.shape, element), number, ours)
    assert_same(ops, result, wanted)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("bool", 2),
        ("bool", 0.5),
        ("uint8", -1),
        ("int64", 2**62),
        ("float16", 0.1),
        ("float32", 1e300),
    ],
)
@pytest.mark.parametrize("shape", SHAPES)
def test_full_converts_number_and_uploads_nothing(ops, shape, dtype, value, monkeypatch):
    monkeypatch.setattr(ops.machine, "upload", None)
    with np.errstate(over="ignore"):
        wanted = np.full(shape, np.array(DTYPES[dtype].convert(value)).astype(dtype))
    filled = ops.to_host(ops.full(shape, DTYPES[dtype], value))
    assert filled.dtype == wanted.dtype
    assert np.array_equal(filled, wanted)
    assert filled.tobytes() == wanted.tobytes()  # a bool is 0 or 1


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8"])
def test_integer_operators_match_numpy_backend_up_to_the_extremes(ops, dtype):
    limits = np.iinfo(dtype)
    values = [limits.min, limits.max, 0, 1, 2, 7, 31, 64, limits.max - 1, limits.max // 2]
    values += [-1, -7] if limits.min else []
    x, y = np.array(list(itertools.product(values, repeat=2)), dtype).T
    for name in (*INTEGER_SPECS, "floor_divide", "remainder", "fmod"):
        kept = (x >= 0) & (y >= 0) & (x < 100) & (y < 100) if name in ("gcd", "lcm") else y == y
        args = [np.array(each[kept]) for each in (x, y)][: OPERATORS[name].arity]
        views = [[upload(backend, arg) for arg in args] for backend in (ops, NUMPY)]
        outs = [b.empty(args[0].shape, DTYPES[dtype]) for b in (ops, NUMPY)]
        for backend, inputs, out in zip((ops, NUMPY), views, outs, strict=True):
            backend.elementwise(OPERATORS[name].value)([out], *inputs)
        assert np.array_equal(ops.to_host(outs[0]), NUMPY.to_host(outs[1])), name


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elementwise_on_every_layout_and_dtype_matches_numpy_backend(ops, dtype, view):
    for shape in SHAPES:
        x, x_numpy = view_on_both_backends(ops, small_integers(shape, dtype), view)
        y, y_numpy = view_on_both_backends(ops, small_integers(shape, dtype, 1), view)
        for name in ("mul", "maximum", "lt"):
            out = mt.bool_ if name == "lt" else DTYPES[dtype]
            ours, theirs = ops.empty(x.shape, out), NUMPY.empty(x.shape, out)
            ops.elementwise(OPERATORS[name].value)([ours], x, y)
            NUMPY.elementwise(OPERATORS[name].value)([theirs], x_numpy, y_numpy)
            assert_same(ops, ours, theirs)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_where_reads_expanded_inputs_and_writes_strided_output(ops, dtype):
    results = []
    for backend in (ops, NUMPY):
        row = upload(backend, small_integers((5,), dtype)).expand((3, 4, 5))
        column = upload(backend, small_integers((3, 1, 1), dtype, 1)).expand((3, 4, 5))
        scalar = upload(backend, small_integers((), dtype, 2)).expand((3, 4, 5))
        out = upload(backend, small_integers((5, 8, 3), dtype, 3))
        view = permuted(out.slice((0, 0, 0), (1, 2, 1), (5, 4, 3)))
        backend.elementwise(OPERATORS["where"].value)([view], row, column, scalar)
        results.append(out)
    assert_same(ops, *results)


def test_elementwise_output_may_be_an_input(ops):
    for shape in ((37,), (4, 6)):
        array = small_integers(shape, "float32")
        x, y = upload(ops, array), upload(ops, array)
        ops.elementwise(OPERATORS["mul"].value)([x], x, y)
        assert np.array_equal(ops.to_host(x), array * array)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_elementwise_on_unaligned_slice_writes_nothing_else(ops, dtype):
    for start, end in itertools.product(range(5), (5, 6, 19, 40)):
        array = small_integers((40,), dtype)
        x = upload(ops, array).slice((start,), (1,), (end - start,))
        out = upload(ops, np.zeros(48, array.dtype)).slice((start,), (1,), (end - start,))
        ops.elementwise(OPERATORS["neg"].value)([out], x)
        buffer = ops.to_host(out.like((48,), (1,), 0))
        assert np.array_equal(buffer[start:end], -array[start:end])
        assert not buffer[:start].any()
        assert not buffer[end:].any()


def test_kernels_with_64_bit_indices_give_the_same_results(ops, monkeypatch):
    assert [index_type(n) for n in (0, 2**31 - 1, 2**31)] == ["index32", "index32", "int64"]
    monkeypatch.setattr("mt_cuda.core.layout.NARROW_LIMIT", 0)
    wide_ops = CudaOps(ops.machine, plain=True)
    x, y = (
        upload(wide_ops, small_integers((3, 4, 5), "float32", seed)).permute(2, 0, 1)
        for seed in (0, 1)
    )
    out = wide_ops.empty((5, 3, 4), mt.float32)
    wide_ops.elementwise(OPERATORS["mul"].value)([out], x, y)
    assert np.array_equal(wide_ops.to_host(out), wide_ops.to_host(x) * wide_ops.to_host(y))
    total = wide_ops.reduce(OPERATORS["add"], x, (1,), True)
    assert np.array_equal(wide_ops.to_host(total), wide_ops.to_host(x).sum(1, keepdims=True))


def test_integer_pow_matches_numpy(ops):
    cases = itertools.product((-3, -1, 0, 1, 2, 7), (0, 1, 2, 5), ("int64", "int32", "int8"))
    for base, exponent, dtype in cases:
        x, y = (upload(ops, np.array([v], dtype)) for v in (base, exponent))
        out = ops.empty((1,), DTYPES[dtype])
        ops.elementwise(OPERATORS["pow"].value)([out], x, y)
        assert ops.to_host(out) == np.array([base], dtype) ** exponent


# --- Copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), list(itertools.product(DTYPES, repeat=2)))
def test_copy_converts_every_dtype_to_every_other(ops, source, target):
    array = cast_array(np.array([[0, 1, 2, 100, 127], [0.5, 1.5, -1, -2, 3]]), DTYPES[source])
    for view in ("contiguous", "permuted"):
        x, x_numpy = view_on_both_backends(ops, array, view)
        ours, theirs = (b.empty(x.shape, DTYPES[target]) for b in (ops, NUMPY))
        ops.copy(x, ours)
        NUMPY.copy(x_numpy, theirs)
        assert_same(ops, ours, theirs)
        assert_same(ops, ops.copy(x, ours.layout), theirs)


def test_from_host_and_to_host_copy(ops):
    array = np.arange(5.0)
    data = ops.from_host(array)
    array[0] = 9
    ops.to_host(data)[1] = 9
    assert ops.to_host(data).tolist() == [0, 1, 2, 3, 4]
    assert ops.to_host(data.like((2,), (-2,), 3)).tolist() == [3, 1]
    assert ops.to_host(ops.empty((0,), mt.float32)).shape == (0,)


# --- Reductions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reduce_on_every_layout_and_dtype_matches_numpy_backend(ops, dtype, name):
    array = small_integers((4, 3, 17), dtype)
    for view, dims in itertools.product(VIEWS, ((), (0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2))):
        x, x_numpy = view_on_both_backends(ops, array, view)
        with np.errstate(all="ignore"):
            ours = ops.reduce(OPERATORS[name], x, dims)
            theirs = NUMPY.reduce(OPERATORS[name], x_numpy, dims)
        assert_same(ops, ours, theirs)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 200])
def test_sum_of_any_length_matches_numpy(ops, length):
    array = small_integers((length, 3), "float32")
    for dims in ((0,), (0, 1)):
        out = ops.reduce(OPERATORS["add"], upload(ops, array), dims, True)
        assert np.array_equal(ops.to_host(out), array.sum(dims, keepdims=True))


@pytest.mark.parametrize("name", ["logical_and", "logical_or"])
def test_logical_reduction_matches_numpy(ops, name):
    array = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 1]], bool)
    reduction = {"logical_and": np.all, "logical_or": np.any}[name]
    out = ops.reduce(OPERATORS[name], upload(ops, array), (1,), True)
    assert np.array_equal(ops.to_host(out), reduction(array, axis=1, keepdims=True))


def test_reduction_of_empty_dimension_is_the_identity(ops):
    for name, wanted in (("add", 0), ("mul", 1)):
        out = ops.reduce(OPERATORS[name], ops.empty((4, 0), mt.float32), (1,))
        assert (ops.to_host(out) == wanted).all()


@pytest.mark.parametrize("position", [0, 7, 70, 99])
@pytest.mark.parametrize("name", ["add", "maximum", "minimum"])
def test_reduction_propagates_nan_and_infinity(ops, name, position):
    for value in (np.nan, np.inf, -np.inf):
        array = np.ones(100, "f4")
        array[position] = value
        out = ops.reduce(OPERATORS[name], upload(ops, array), (0,), True)
        wanted = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum}[name].reduce(array)
        np.testing.assert_equal(ops.to_host(out)[0], wanted)


def test_sums_are_deterministic(ops):
    array = np.random.default_rng(0).standard_normal((3, 999)).astype("f4")
    results = set()
    for _ in range(3):
        out = ops.reduce(OPERATORS["add"], upload(ops, array), (0, 1))
        results.add(ops.to_host(out).item())
    assert len(results) == 1


# --- Matrix products ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bool"])
def test_matmul_matches_numpy_backend(ops, dtype):
    for (n, m, k), a_transposed, b_transposed in itertools.product(
        ((1, 1, 1), (5, 7, 3), (9, 4, 10), (3, 0, 2), (17, 5, 18)), (False, True), (False, True)
    ):
        results = []
        for backend in (ops, NUMPY):
            a = upload(backend, small_integers((m, n) if a_transposed else (n, m), dtype))
            b = upload(backend, small_integers((k, m) if b_transposed else (m, k), dtype, 1))
            left, right = permuted(a) if a_transposed else a, permuted(b) if b_transposed else b
            results.append(backend.matmul(left, right))
        assert_same(ops, *results)


def test_batched_matmul_of_expanded_factors_matches_numpy_backend(ops):
    results = []
    for backend in (ops, NUMPY):
        a = upload(backend, small_integers((2, 1, 3, 4), "float32")).expand((2, 3, 3, 4))
        b = (
            upload(backend, small_integers((3, 5, 4), "float32", 1))
            .permute(0, 2, 1)
            .expand((2, 3, 4, 5))
        )
        results.append(backend.matmul(a, b))
    assert_same(ops, *results)


# --- Indexing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_and_scatter_match_numpy_backend(ops, dtype, dim):
    part = [2, 3, 2]
    part[dim] = 6
    index = np.random.default_rng(dim).integers(0, (4, 3, 5)[dim], part)
    for view, name in itertools.product(("contiguous", "flipped", "permuted"), UPDATES):
        results = []
        for backend in (ops, NUMPY):
            to_view = VIEWS[view]
            axis = 2 - dim if view == "permuted" else dim
            table = to_view(upload(backend, small_integers((4, 3, 5), dtype)))
            index_view, values = (
                to_view(upload(backend, index)),
                to_view(upload(backend, small_integers(part, dtype, 1))),
            )
            picked = backend.gather(table, axis, index_view)
            with np.errstate(all="ignore"):
                backend.scatter(values, axis, index_view, table, OPERATORS[name])
            results.append((picked, table))
        for ours, theirs in zip(*results, strict=True):
            assert_same(ops, ours, theirs)


def test_scatter_without_operator_replaces_elements(ops):
    out = upload(ops, np.zeros((2, 3), "f4"))
    index = upload(ops, np.array([[2, 0], [1, 2]]))
    ops.scatter(upload(ops, np.array([[1, 2], [3, 4]], "f4")), 1, index, out)
    assert ops.to_host(out).tolist() == [[2, 0, 1], [0, 3, 4]]


def test_scatter_add_counts_every_repeated_index(ops):
    for dtype in ("float32", "float64", "int32", "int64"):
        out = upload(ops, np.zeros(2, dtype))
        index = upload(ops, np.arange(1000) % 2)
        ops.scatter(upload(ops, np.ones(1000, dtype)), 0, index, out, OPERATORS["add"])
        assert ops.to_host(out).tolist() == [500, 500]


def test_scatter_maximum_propagates_nan(ops):
    out = upload(ops, np.zeros(2, "f4"))
    source, index = np.array([np.nan, 1, 2, 3], "f4"), np.array([0, 0, 1, 1])
    ops.scatter(upload(ops, source), 0, upload(ops, index), out, OPERATORS["maximum"])
    np.testing.assert_equal(ops.to_host(out), [np.nan, 3])


def test_reinterpreted_storage_has_the_same_bytes(ops):
    from mt_tensor import float32, int8, int64

    values = np.array([1.0, -2.0, 3.0], np.float32)
    memory = ops.from_host(values).storage
    small, large = ops.reinterpreted(memory, int8), ops.reinterpreted(memory, int64)

    def elements(storage, size, dtype):
        return ops.to_host(TensorData(storage, (size,), dtype=dtype))

    assert elements(small, 12, int8).tobytes() == values.tobytes()
    assert elements(large, 1, int64).tobytes() == values.tobytes()[:8]
    assert ops.same_memory(memory, small)
    assert not ops.same_memory(memory, ops.from_host(values).storage)
    again = ops.reinterpreted(small, float32)
    assert elements(again, 3, float32).tolist() == values.tolist()


def test_plan_caches_are_bounded(monkeypatch):
    monkeypatch.setattr("mt_cuda.core.backend.CACHE_SIZE", 3)
    small_cache_ops = CudaOps(Simulator(), plain=True)
    for name, size in itertools.product(("neg", "square", "exp", "abs", "neg"), (1, 2)):
        x, out = upload(small_cache_ops, np.ones(size)), small_cache_ops.empty((size,), mt.float64)
        small_cache_ops.elementwise(OPERATORS[name].value)((out,), x)
        assert small_cache_ops.to_host(out) == pytest.approx(OPERATORS[name].function(1.0))
    for cache in (small_cache_ops._plans, small_cache_ops._loaded, small_cache_ops._graphs):
        assert len(cache) == 3
