"""Elementwise formulas of transposed operands, which are copied by kernels."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_fast.core import elementwise, loops, movement
from mt_fast.transposition.registers import TILE_COLUMNS, TILE_ROWS
from mt_operators import OPERATORS
from mt_tensor import float32
from mt_tensor.backends.extending import Layout

THREADS = min(2, numba.config.NUMBA_NUM_THREADS)

SHAPES = [
    (TILE_ROWS, TILE_COLUMNS),
    (TILE_ROWS + 1, TILE_COLUMNS + 1),
    (TILE_COLUMNS + 45, TILE_ROWS - 1),
    (3, 50, 40),
    (7, 2, 300),
    (2, 3, 35, 33),
    (2, 3, 2, 17, 34),
]


@pytest.fixture(scope="module", autouse=True)
def fast():
    before = numba.get_num_threads()
    with mt.use_backend("fast"):
        yield mt.get_backend("fast")
    numba.set_num_threads(before)


@pytest.fixture
def large(fast, monkeypatch, clear_plans):
    """Yield the backend with kernels for tensors of any size, on two threads."""
    monkeypatch.setattr(loops, "KERNEL_FROM", 0)
    monkeypatch.setattr(fast, "parallel_from", 1)
    numba.set_num_threads(THREADS)
    clear_plans()
    yield fast
    clear_plans()


def random(shape, dtype="float32"):
    return np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)


def permuted(array, order):
    """Return `array` as a tensor that is contiguous in another dimension order."""
    stored = np.ascontiguousarray(array.transpose(order))
    return mt.tensor(stored).permute(*np.argsort(order))


def run(backend, name, inputs, shape, dtype="float32", gradient=None):
    """Run an operator's formula on views, and return its results as arrays."""
    operator = OPERATORS[name]
    formula = operator.value if gradient is None else operator.gradient(gradient)
    outputs = [mt.zeros(*shape, dtype=dtype) for _ in range(formula.outputs)]
    backend.elementwise(formula)([out._tensor for out in outputs], *[x._tensor for x in inputs])
    return [out.numpy() for out in outputs]


@pytest.mark.slow  # each combination is a kernel to compile
@settings(max_examples=40, deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    dtype=st.sampled_from(["float32", "float64", "int8", "int64"]),
    threads=st.sampled_from([1, THREADS]),
    data=st.data(),
)
def test_elementwise_matches_numpy_for_every_dimension_order(
    fast, clear_plans, shape, dtype, threads, data
):
    orders = [data.draw(st.permutations(range(len(shape)))) for _ in range(2)]
    a, b = random((2, *shape), dtype)
    kept = data.draw(st.sampled_from(["all", "rows", "columns"]))  # other dimensions are broadcast
    if kept != "all":
        b = b[..., :1, :] if kept == "rows" else b[..., :1]
    x, y = permuted(a, orders[0]), permuted(b, orders[1]).expand(*shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "KERNEL_FROM", 0)
        clear_plans()
        patch.setattr(fast, "parallel_from", 1)
        numba.set_num_threads(threads)
        (out,) = run(fast, "sub", (x, y), shape, dtype)
        assert np.array_equal(out, a - b)
        (out,) = run(fast, "lt", (x, y), shape, "bool")
        assert np.array_equal(out, a < b)


@pytest.mark.parametrize("shape", SHAPES)
def test_transposed_operands_match_numpy(large, shape):
    a, b = random((2, *shape))
    x, y = mt.tensor(a).mT, mt.tensor(b).mT
    rows = mt.tensor(np.ascontiguousarray(b.swapaxes(-1, -2)))
    for left, right in ((x, rows), (rows, x), (x, y), (x, rows[..., :1].expand(*x.shape))):
        (out,) = run(large, "sub", (left, right), x.shape)
        assert np.array_equal(out, left.numpy() - right.numpy())


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int32"])
def test_transposed_bools_and_numbers_can_be_combined(large, dtype):
    condition, (a, b) = random((40, 300), "bool"), random((2, 40, 300), dtype)
    mask, x, y = mt.tensor(condition), mt.tensor(a), mt.tensor(b)
    for x_transposed, y_transposed in ((x.T, y.T), (x.T, mt.tensor(b.T.copy()))):
        chosen = mt.where(mask.T, x_transposed, y_transposed)
        assert np.array_equal(chosen, np.where(condition, a, b).T)
    assert np.array_equal(mt.where(mask.T, mt.tensor(a.T.copy()), 0), np.where(condition, a, 0).T)
    assert np.array_equal(
        mt.logical_or(mask.T, mask[0, :, None].expand(300, 40)), condition.T | condition[0, :, None]
    )


@pytest.mark.parametrize("threads", sorted({1, THREADS}))
def test_transposed_gradient_formula_returns_several_results(large, threads):
    numba.set_num_threads(threads)
    upstream, a, b = random((3, 70, 261))
    x, y = permuted(a, (1, 0)), permuted(b, (1, 0))
    inputs = (mt.tensor(upstream), x, y, mt.tensor(a * b))
    left, right = run(large, "mul", inputs, a.shape, gradient=(True, True))
    assert np.array_equal(left, upstream * b)
    assert np.array_equal(right, upstream * a)


def test_transposed_operand_gives_same_bits_as_contiguous_one(large):
    x = mt.randn(70, 261)
    (columns,) = run(large, "tanh", (x.T,), x.T.shape)
    (rows,) = run(large, "tanh", (x.T.contiguous(),), x.T.shape)
    assert columns.tobytes() == rows.tobytes()


def test_formula_of_many_transposed_operands_matches_numpy(large):
    arrays = random((6, 40, 300))

    @mt.fuse
    def total(a, b, c, d, e, f):
        return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6

    actual = total(*(mt.tensor(array).T for array in arrays)).contiguous()
    assert np.array_equal(actual, sum(array.T * (i + 1) for i, array in enumerate(arrays)))


def test_operands_of_different_dimension_orders_match_numpy(large):
    a, b, c = random((3, 20, 30, 40))
    x, y, z = (permuted(v, order) for v, order in ((a, (1, 2, 0)), (b, (0, 2, 1)), (c, (2, 1, 0))))
    for left, right in ((x, y), (y, z), (z, x)):
        (out,) = run(large, "sub", (left, right), a.shape)
        assert np.array_equal(out, left.numpy() - right.numpy())
    strided = mt.tensor(np.repeat(a, 2, -1))[..., ::2]
    for other in (strided, mt.tensor(a[..., ::-1].copy()).flip(-1)):
        (out,) = run(large, "sub", (other, y), a.shape)
        assert np.array_equal(out, a - b)


def test_in_place_operations_with_own_transpose_match_numpy(large):
    a, b = random((2, 200, 200))
    y = mt.tensor(b)
    y += mt.tensor(a).T
    assert np.array_equal(y, b + a.T)
    x = mt.tensor(a)
    x += x.T
    assert np.array_equal(x, a + a.T)
    x = mt.tensor(a)
    x.T.add_(mt.tensor(b))
    assert np.array_equal(x, a + b.T)
    x = mt.tensor(a)
    x.T.mul_(x)
    assert np.array_equal(x, a * a.T)
    x = mt.tensor(a)
    x[:100].sub_(x.T[100:])  # overlapping memory
    assert np.array_equal(x[:100], a[:100] - a.T[100:])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "target"), [("float32", "float64"), ("bool", "float32"), ("int64", "int8")]
)
def test_transposed_conversion_matches_numpy(large, source, target):
    array = random((2, 70, 261), source)
    assert np.array_equal(mt.tensor(array).mT.to(target), array.swapaxes(1, 2).astype(target))


def test_loop_form_follows_strides_of_operands():
    def form_of(shape, *strides):
        layouts = tuple([Layout(float32, shape, each) for each in strides])
        return loops.loop_over(layouts, len(strides) - 1, False).form

    size = (400, 300)
    row, column, one = (300, 1), (1, 400), (0, 0)
    assert form_of(size, column, row, row) == "strided"
    assert form_of(size, column, column, column) == "flat"
    assert form_of(size, row, one, row) == "flat"
    assert form_of(size, row, (0, 1), row) == "rows"
    assert form_of(size, row, (300, -1), row) == "strided"


def test_transposed_operands_are_copied(fast, monkeypatch):
    shapes = ((300, 300), (30000, 8), (30, 30))
    pairs = [(mt.zeros(*shape[::-1]).T, mt.zeros(*shape)) for shape in shapes]
    shapes_copied = []

    def copied(source, *rest):
        shapes_copied.append(source.shape)
        return movement.copied(source, *rest)

    monkeypatch.setattr(elementwise, "copied", copied)
    for shape, operands in zip(shapes, pairs, strict=True):
        run(fast, "maximum", operands, shape)
    assert shapes_copied == [*shapes]
