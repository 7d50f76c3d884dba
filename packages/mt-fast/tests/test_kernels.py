"""Kernels for large tensors: layouts, reductions, threads, conversions, source."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_fast
import mt_tensor as mt
from mt_fast import vector_math
from mt_fast.core import loops
from mt_fast.core.backend import FastOps
from mt_fast.core.elementwise import elementwise_source
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.folds import kernels, parts
from mt_fast.in_place import update as updates
from mt_operators import OPERATORS
from mt_operators.core.elementary import ELEMENTARY
from mt_operators.testing import INTEGER_SPECS
from mt_tensor import float32
from mt_tensor.conformance.layouts import LAYOUTS
from mt_tensor.extending import DTYPES

UFUNCS = {"add": np.add, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


@pytest.fixture(scope="module", autouse=True)
def fast():
    with mt.use_backend("fast"):
        yield mt.get_backend("fast")


@pytest.fixture
def large(fast, no_thresholds):
    """Yield the backend with settings for large tensors, on two threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    yield fast
    numba.set_num_threads(before)


def view(array, layout, backend):
    """Return a view in a layout of the conformance tests, or with repeated elements."""
    if layout == "expanded":
        first = np.ravel(array)[0] if array.size else 0
        return mt.tensor(first, dtype=array.dtype, backend=backend).expand(array.shape)
    if layout == "row":  # repeated along all dimensions but the last
        return mt.tensor(np.ravel(array)[: array.shape[-1]], backend=backend).expand(array.shape)
    return LAYOUTS[layout](array, backend)


@settings(max_examples=60, deadline=None)
@given(
    shape=st.sampled_from([(40,), (5, 9), (3, 4, 5), (2, 3, 2, 3, 2), (2, 3, 2, 3, 2, 3)]),
    layouts=st.tuples(*[st.sampled_from([*LAYOUTS, "expanded", "row"])] * 2),
    target=st.sampled_from(sorted(LAYOUTS)),
)
def test_elementwise_matches_numpy_for_every_combination_of_layouts(
    fast, clear_plans, shape, layouts, target
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "KERNEL_FROM", 0)
        clear_plans()
        a, b = np.random.default_rng(0).standard_normal((2, *shape)).astype("f4")
        x, y = (view(v, layout, fast) for v, layout in zip((a, b), layouts, strict=True))
        out = LAYOUTS[target](np.zeros(shape, "f4"), fast)
        fast.elementwise(OPERATORS["sub"].value)((out._tensor,), x._tensor, y._tensor)
        assert np.array_equal(out, np.asarray(x) - np.asarray(y))


@pytest.mark.parametrize("layout", ["contiguous", "reversed", "expanded"])
def test_work_split_among_threads_matches_numpy(large, layout):
    a = np.random.default_rng(0).standard_normal((11, 13)).astype("f4")
    x = view(a, layout, large)
    product = mt.zeros(11, 13)
    large.elementwise(OPERATORS["mul"].value)((product._tensor,), x._tensor, x._tensor)
    assert np.array_equal(product, np.asarray(x) ** 2)
    out = mt.zeros(11, 13)  # in pieces of 7 elements and a rest
    large.copy(x._tensor, out._tensor)
    assert np.array_equal(out, np.asarray(x))
    assert np.array_equal(x[:, [0, 2, 2]], np.asarray(x)[:, [0, 2, 2]])


OPERATIONS = {
    "row": lambda x: x.exp(),
    "repeated rows": lambda x: x.exp() * x[:1].exp(),
    "columns": lambda x: x.mT.maximum(x.clone().mT.contiguous()),
    "reduction of all elements": lambda x: x.sum(),
    "reduction of rows": lambda x: x.sum(1),
    "reduction of columns": lambda x: x.sum(0),
    "copy": lambda x: mt.zeros(6, 4).copy_(x.mT),
    "conversion": lambda x: mt.zeros(4, 6, dtype="float64").copy_(x),
    "gather": lambda x: x.gather(0, mt.zeros(*x.shape, dtype="int64")),
    "index": lambda x: x[[0, 2, 2]],
    "index_add": lambda x: mt.zeros(*x.shape).index_add_(0, mt.tensor([0, 2, 0, 3]), x),
    "products of integers": lambda x: x.long() @ x.mT.long(),
    "in-place update": lambda x: mt.fuse_in_place("x")(lambda x, y: x + y)(x, 1.0),
}
"""Operations on a 4 x 6 matrix, by the loop that they use."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_only_large_operations_use_threads(fast, clear_plans, name, monkeypatch):
    run, parallel_flags = Kernel.run, set()

    def record(kernel, units, parallel, *arguments):
        parallel_flags.add(parallel)
        run(kernel, units, parallel, *arguments)

    monkeypatch.setattr(Kernel, "run", record)
    monkeypatch.setattr(loops, "KERNEL_FROM", 0)
    for large in (False, True):
        x = mt.arange(24, dtype="float32").view(4, 6)
        monkeypatch.setattr(fast, "parallel_from", 1 if large else 10**9)
        clear_plans()
        parallel_flags.clear()
        OPERATIONS[name](x)
        assert (True in parallel_flags) is large
    clear_plans()


@settings(max_examples=60, deadline=None)
@given(
    shape=st.sampled_from([(50,), (30, 7), (3, 4, 5), (2, 3, 2, 3, 2), (2, 3, 2, 2, 2, 3, 2, 2)]),
    name=st.sampled_from(["add", "minimum"]),
    layout=st.sampled_from([*LAYOUTS, "expanded", "row"]),
    parallel=st.booleans(),
    data=st.data(),
)
def test_split_reductions_match_numpy(fast, clear_plans, shape, name, layout, parallel, data):
    dims = tuple(sorted(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))))
    array = np.random.default_rng(0).integers(-1, 3, shape).astype("f4")
    source = view(array, layout, fast)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "MIN_PART", 5)
        patch.setattr(kernels, "COLUMNS", 4)
        patch.setattr(fast, "parallel_from", 1 if parallel else 10**9)
        clear_plans()
        expected = UFUNCS[name].reduce(np.asarray(source), axis=dims, keepdims=True)
        out = fast.reduce(OPERATORS[name], source._tensor, dims, True)
    clear_plans()
    assert np.array_equal(out.array, expected)


@pytest.mark.parametrize("dims", [(0,), (1,), (0, 2), (0, 1)])
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_split_sums_match_numpy_for_every_layout(large, layout, dims):
    array = np.random.default_rng(0).integers(-3, 4, (30, 2, 7)).astype("f4")
    source = LAYOUTS[layout](array, large)
    out = large.reduce(OPERATORS["add"], source._tensor, dims)
    assert np.array_equal(out.array, array.sum(dims))


def test_sums_over_alternating_dimensions_match_numpy(fast):
    array = np.random.default_rng(0).integers(-3, 4, (2,) * 9).astype("f4")
    for dims in ((0, 2, 4, 6, 8), (1, 3, 5, 7), (0, 2, 4, 6)):
        assert np.array_equal(mt.tensor(array).sum(dims), array.sum(dims))


def test_all_and_any_accept_numbers(fast):
    array = np.array([[0.0, 2.0, np.nan], [1.0, 2.0, 3.0]], "f4")
    assert mt.tensor(array).all(1).tolist() == [False, True]
    assert mt.tensor(array).any(1).tolist() == [True, True]
    assert mt.tensor(array.T.copy()).all(1).tolist() == [False, True, True]


def test_large_sums_are_accurate_and_propagate_nan_and_infinity(fast):
    x = np.random.default_rng(0).random((300, 1000), np.float32)
    exact = x.astype("f8")
    for dims in ((0,), (1,), (0, 1)):
        ours = np.asarray(mt.tensor(x).sum(dims), "f8")
        np.testing.assert_allclose(ours, exact.sum(dims), rtol=1e-6)
    x[5, 7] = np.inf
    x[6, 8] = np.nan
    rows = np.asarray(mt.tensor(x).sum(1))
    assert rows[5] == np.inf
    assert np.isnan(rows[6])
    assert np.isnan(mt.tensor(x).amax(0).numpy()[8])


def test_column_reductions_propagate_nan_and_infinity_from_any_row(fast):
    expected = np.random.default_rng(0).standard_normal((11, 37)).astype("f4")
    expected[np.arange(11), np.arange(11)] = np.nan
    expected[np.arange(11), np.arange(11, 22)] = np.inf
    expected[np.arange(11), np.arange(22, 33)] = -np.inf
    for rows in range(1, 12):  # kernels reduce several rows at a time
        array = expected[:rows]
        x = mt.tensor(array)
        assert np.array_equal(x.amax(0), array.max(0), equal_nan=True)
        assert np.array_equal(x.amin(0), array.min(0), equal_nan=True)
        np.testing.assert_allclose(x.sum(0), array.sum(0), rtol=1e-5, atol=1e-5)


def test_number_of_threads_does_not_change_sums_and_softmax(fast):
    x = mt.rand(200, 1000)
    before = numba.get_num_threads()
    results = []
    for threads in (1, min(2, before)):
        numba.set_num_threads(threads)
        results.append([x.sum().item(), *x.sum(0).tolist(), *x.softmax(1).sum(1).tolist()])
    numba.set_num_threads(before)
    assert results[0] == results[1]


CONVERTED = sorted(set(DTYPES) - {"uint16", "uint32"})
"""All dtypes except two, whose kernels differ from uint8's only in the dtype's name."""


@pytest.mark.parametrize("target", CONVERTED)
@pytest.mark.parametrize("source", CONVERTED)
def test_conversion_matches_backend_simple(fast, source, target):
    numbers = [0, 1, -1, 0.75, -0.25, 2.5, 99.9, -100, 254, 300.5, -40000]
    if not DTYPES[source].is_narrow:  # NumPy does not define values out of range
        numbers += [2.0**40 + 1, -(2.0**62)]
    original = mt.tensor(numbers, dtype="float64", backend="simple").to(source)
    converted = original.to(target)
    out = mt.zeros(len(numbers), dtype=target)
    fast.copy(original.to("fast")._tensor, out._tensor)
    assert out.tolist() == converted.tolist()


FLOAT_FUNCTIONS = ELEMENTARY.keys() - INTEGER_SPECS.keys() - {"where"}


@pytest.mark.parametrize("name", sorted(FLOAT_FUNCTIONS - vector_math.IN_FLOAT64.keys()))
def test_float32_kernel_contains_no_float64(name, monkeypatch):
    monkeypatch.setenv("MT_FAST_CACHE", "off")  # cached kernels have no LLVM code
    operator = OPERATORS[name]
    views = (float32,) * operator.arity
    source = elementwise_source(operator.value, views, (float32,))
    serial = compiled.__wrapped__(source).serial
    row = np.ones(3, np.float32)
    serial(0, 3, *(row, 0) * (operator.arity + 1))
    (text,) = serial.inspect_llvm().values()
    assert "float" in text
    assert "double" not in text


def test_integer_powers_wrap_and_truncate(fast):
    x = mt.tensor([3, -1, -1, 2, 1, 0, -2])
    y = mt.tensor([40, 3, -2, -1, -7, 0, 3])
    expected = [3**40 % 2**64, -1, 1, 0, 1, 1, -8]
    expected[0] -= 2**64 if expected[0] >= 2**63 else 0
    out = mt.zeros(7, dtype="int64")  # callers of the backend reject negative exponents
    fast.elementwise(OPERATORS["pow"].value)((out._tensor,), x._tensor, y._tensor)
    assert out.tolist() == expected


def test_operator_added_at_run_time_has_value_and_gradient(fast, monkeypatch):
    rows = dict(OPERATORS)
    monkeypatch.setattr(OPERATORS, "_rows", rows)
    monkeypatch.setattr(OPERATORS, "_listeners", [])
    from mt_operators.core.elementary import div, exp, log
    from mt_tensor.core.elementwise import ElementwiseOperation

    smooth = OPERATORS.add(
        "smooth_relu",
        lambda x: log(1.0 + exp(x)),
        lambda x, out: div(1.0, 1.0 + exp(-x)),
        result="real",
    )
    x = mt.tensor([[-1.0, 0.0], [1.0, 2.0]], requires_grad=True)
    result = ElementwiseOperation(smooth)(x.T)
    result.sum().backward()
    array = np.asarray(x.detach(), "f8")
    np.testing.assert_allclose(result.detach(), np.log1p(np.exp(array)).T, rtol=1e-6)
    np.testing.assert_allclose(x.grad, 1 / (1 + np.exp(-array)), rtol=1e-6)
    assert "t0 = exp(x)" in mt_fast.source("smooth_relu")


def test_result_can_overwrite_its_argument(fast):
    x = mt.tensor([1.0, 2.0, 3.0])
    fast.elementwise(OPERATORS["square"].value)((x._tensor,), x._tensor)
    assert x.tolist() == [1, 4, 9]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
@pytest.mark.parametrize(
    ("views", "are_rows"),
    [
        (lambda x: (x[:6], 2.0), True),
        (lambda x: (x[2:8], x[6:]), True),
        (lambda x: (x.view(3, 4), x[1].expand(3, 4)), True),
        (lambda x: (x[:1], x[3:4]), True),
        (lambda x: (x[:0], x[3:3]), False),
        (lambda x: (x[::2], 2.0), False),
        (lambda x: (x[:6], x[::2]), False),
        (lambda x: (x.view(3, 4), x[1:4].view(3, 1).expand(3, 4)), False),
    ],
)
def test_contiguous_rows_are_updated_in_place_by_one_loop(views, are_rows, dtype):
    memory = mt.arange(12).to(dtype)
    operands = views(memory)
    expected = np.asarray(operands[0] + operands[1]).tolist()
    inputs = [each._tensor if isinstance(each, mt.Tensor) else each for each in operands]
    updated = updates.update(OPERATORS["add"].value, inputs[:1], inputs, False)
    assert updated is (are_rows and dtype in ("float32", "float64"))
    assert (operands[0].tolist() == expected) is (updated or not expected)


def test_in_place_update_copies_read_only_memory(fast):
    array = np.arange(4.0)
    array.flags.writeable = False
    x = mt.from_numpy(array)
    x.add_(1)
    assert x.tolist() == [1, 2, 3, 4]
    assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    shape=st.lists(st.integers(1, 70), min_size=2, max_size=5).filter(
        lambda shape: np.prod(shape) < 30_000
    ),
    dtype=st.sampled_from(["float32", "float64", "float16", "int8", "int64", "bool"]),
    data=st.data(),
)
def test_permuted_tensors_are_copied_and_converted(fast, clear_plans, shape, dtype, data):
    order = data.draw(st.permutations(range(len(shape))))
    array = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)
    transposed = np.ascontiguousarray(array.transpose(order))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "KERNEL_FROM", 0)
        clear_plans()
        patch.setattr(fast, "parallel_from", data.draw(st.sampled_from([1, 10**9])))
        x = mt.tensor(array).permute(*order)
        assert np.array_equal(x.contiguous(), transposed)
        assert np.array_equal(x.double(), transposed.astype("f8"))
        z = mt.zeros(*shape, dtype=dtype).permute(*order)
        assert np.array_equal(z.copy_(mt.tensor(transposed)), transposed)


def test_large_integer_products_match_numpy(large):
    a, b = np.random.default_rng(0).integers(-9, 9, (2, 3, 8, 8))
    assert np.array_equal(mt.tensor(a) @ mt.tensor(b).mT, a @ np.swapaxes(b, -1, -2))


# --- Source -------------------------------------------------------------------------------------


def test_source_shows_kernel_of_operator_and_layout():
    text = mt_fast.source("tanh")
    assert "def tanh_float32_flat(" in text
    assert "t0 = tanh(x)" in text
    backward = mt_fast.source("tanh", gradient=(True,))
    assert "t1 = float32(1.0) - t0" in backward
    assert "float64" not in backward
    assert " x_data" not in backward  # the gradient reads the output only
    assert "_rows(" in mt_fast.source("mul", layout="rows", dtype="float64")
    assert "acc = t0" in mt_fast.source("add", layout="fold")
    assert "acc = larger(acc, value)" in mt_fast.source("maximum", layout="columns")
    assert "condition" in mt_fast.source("where")
    compile(text, "text", "exec")


def test_source_shows_loads_of_repeated_elements():
    text = mt_fast.source("add", repeats=(False, True))
    assert text.index("y_value = y_data[y_start]") < text.index("for i in range(hi - lo):")
    assert "x = x_row[i]" in text
    backward = mt_fast.source("mul", repeats=(True, False), layout="rows", gradient=(True, True))
    assert "x_value = x_data[x_first]" in backward
    assert "upstream_row = " in backward
    assert "output" not in backward
    assert mt_fast.source("add", repeats=(False, False)) == mt_fast.source("add")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"layout": "diagonal"}, "layout must be one of flat, .*; 'diagonal' was given"),
        ({"dtype": "float16"}, "pass dtype='float32'"),
        ({"layout": "fold"}, "by an operator of two"),
        ({"gradient": (True, True)}, "each of the 1 argument"),
        ({"gradient": (False,)}, "at least one"),
        ({"repeats": (True, False)}, "each of the 1 argument"),
    ],
)
def test_source_raises_for_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        mt_fast.source("tanh", **arguments)


def test_get_backend_returns_fast():
    assert isinstance(mt.get_backend("fast"), FastOps)
    assert mt.backends()["fast"].distribution == "mt-fast"
