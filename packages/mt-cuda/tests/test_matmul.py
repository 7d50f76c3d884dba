"""Tiled matrix products: results in every layout, tensor cores, biases, choice of the tile."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.core.errors import RaceError
from mt_cuda.core.gpu import size_of_gpu
from mt_cuda.core.kernel import Kernel
from mt_cuda.cubins import nvrtc
from mt_cuda.matrices import tiles
from mt_cuda.matrices.multiply import linear, product_and_sums
from mt_cuda.matrices.product import Product, product
from mt_cuda.matrices.strips import Factor
from mt_cuda.matrices.tensor_cores import best
from mt_cuda.matrices.tiles import LARGE_PRODUCT, TILES, Cut, Tile, choose
from mt_cuda.recording import Recorder
from mt_tensor import use_backend
from mt_tensor.extending import DTYPES

GPU = size_of_gpu(132)
BACKENDS = {"forward": CudaOps(Simulator("forward")), "reversed": CudaOps(Simulator("reversed"))}
DTYPES_OF_PRODUCTS = ("float16", "float32", "float64")


@pytest.fixture(params=BACKENDS)
def backend(request):
    return BACKENDS[request.param]


def small_integers(shape, dtype="float32", seed=0):
    """Return integers so small that sums of their products are exact in any order."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def view(backend, array, transposed, start, step):
    """Return a tensor with these elements that is transposed, has an offset, or has gaps."""
    rows, columns = array.shape
    stored = array.T if transposed else array
    padded = np.full((stored.shape[0], stored.shape[1] * step), np.nan, array.dtype)
    padded[:, ::step] = stored
    data = backend.from_host(np.concatenate([np.full(start, np.nan, array.dtype), padded.ravel()]))
    strides = (padded.shape[1], step)
    return data.like((rows, columns), strides[::-1] if transposed else strides, start)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_matmul_accepts_factors_of_any_layout(data):
    backend = data.draw(st.sampled_from(list(BACKENDS.values())))
    rows, inner, columns = (data.draw(st.integers(1, 20)) for _ in range(3))
    dtype = data.draw(st.sampled_from(DTYPES_OF_PRODUCTS))
    layouts = st.tuples(st.booleans(), st.sampled_from([0, 1, 4, 8]), st.sampled_from([1, 1, 1, 2]))
    a, b = small_integers((rows, inner), dtype), small_integers((inner, columns), dtype, 1)
    left, right = (view(backend, each, *data.draw(layouts)) for each in (a, b))
    assert np.array_equal(backend.to_host(backend.matmul(left, right)), a @ b)


@pytest.mark.parametrize("dtype", DTYPES_OF_PRODUCTS)
def test_matmul_reads_transposed_and_unaligned_factors(backend, dtype):
    a, b = small_integers((16, 24), dtype), small_integers((24, 8), dtype, 1)
    for a_transposed, b_transposed, start in itertools.product((0, 1), (0, 1), (0, 1)):
        left, right = view(backend, a, a_transposed, start, 1), view(backend, b, b_transposed, 0, 1)
        assert np.array_equal(backend.to_host(backend.matmul(left, right)), a @ b)


@pytest.mark.parametrize(
    "tile", [Tile(16, 32, 8, 4, 4), Tile(16, 8, 8, 8, 4), Tile(32, 4, 4, 4, 4)], ids=str
)
@pytest.mark.parametrize("transposed", [False, True])
def test_matmul_with_wide_and_narrow_tiles_is_exact(backend, monkeypatch, tile, transposed):
    """Transposed factors are loaded in several groups in both directions: see `Strip.rounds`."""
    shape = rows, inner, columns = 17, 32, 40  # at least four strips, so that all loops run
    cut = cut_by(tile, (1, *shape))
    monkeypatch.setattr("mt_cuda.matrices.planning.choose", lambda *_: cut)
    a, b = small_integers((rows, inner)), small_integers((inner, columns), seed=1)
    ops = CudaOps(backend.machine)
    left, right = view(ops, a, transposed, 0, 1), view(ops, b, transposed, 1, 1)
    assert np.array_equal(ops.to_host(ops.matmul(left, right)), a @ b)
    product, sums = product_and_sums(ops, left, right)
    assert np.array_equal(ops.to_host(product), a @ b)
    assert np.array_equal(ops.to_host(sums), a.sum(1))


def cut_by(tile, shape, span=None):
    """Return the cut of a product into tiles, whose inner dimension is split at each `span`."""
    batches, rows, inner, columns = shape
    count = batches * -(-rows // tile.rows) * -(-columns // tile.columns)
    return Cut(tile, count, -(-inner // span) if span else 1, span or inner)


@pytest.mark.parametrize("dtype", DTYPES_OF_PRODUCTS)
@pytest.mark.parametrize("inner", [8, 9, 30])
def test_split_inner_dimension_is_summed_deterministically(monkeypatch, dtype, inner):
    results = []
    for backend in BACKENDS.values():
        ops = CudaOps(backend.machine)
        shape, tile = (2, 5, inner, 6), Tile(8, 8, 4, 4, 4)
        cut = cut_by(tile, shape, 8)
        monkeypatch.setattr("mt_cuda.matrices.planning.choose", lambda *_, cut=cut: cut)
        rng = np.random.default_rng(0)
        a, b = (rng.standard_normal((2, *each)).astype(dtype) for each in ((5, inner), (inner, 6)))
        results.append(ops.to_host(ops.matmul(*map(ops.from_host, (a, b)))))
        exact = a.astype("f8") @ b.astype("f8")
        np.testing.assert_allclose(results[-1], exact, atol=0.02 if dtype == "float16" else 1e-5)
    assert np.array_equal(*results), "results depend on the order of threads"


@pytest.mark.parametrize("shared", [False, True])
def test_batched_matmul_matches_numpy(backend, shared):
    a = small_integers((2, 3, 5, 4))
    b = small_integers((4, 6), seed=1) if shared else small_integers((3, 4, 6), seed=1)
    product = backend.matmul(backend.from_host(a), backend.from_host(b))
    assert np.array_equal(backend.to_host(product), a @ b)


def test_matmul_of_empty_matrices_and_vectors_matches_numpy(backend):
    for left, right in (((3, 0), (0, 2)), ((0, 4), (4, 2)), ((4,), (4, 3)), ((2, 4), (4,))):
        a, b = small_integers(left), small_integers(right, seed=1)
        product = backend.matmul(backend.from_host(a), backend.from_host(b))
        assert np.array_equal(backend.to_host(product), a @ b)


def test_bfloat16_matmul_accumulates_in_float32(backend):
    a, b = small_integers((9, 12)), small_integers((12, 10), seed=1)
    left, right = (mt.tensor(each, backend=backend).bfloat16() for each in (a, b))
    assert (left @ right).dtype is mt.bfloat16
    assert np.array_equal((left @ right).float().numpy(), a @ b)


@pytest.mark.parametrize("fused", ["", "biased", "summed"])
@pytest.mark.parametrize(
    ("dtype", "tile", "wide", "fits"),
    [
        ("float16", TILES[0], True, True),
        ("bfloat16", TILES[4], True, True),
        ("float16", TILES[5], True, False),  # not a multiple of the tile of a warp
        ("float16", TILES[0], False, False),
        ("float32", TILES[0], True, False),
        ("float32 rounded", TILES[0], True, True),
        ("float32 rounded", TILES[3], True, True),
        ("float32 rounded", TILES[0], False, False),
    ],
)
def test_tensor_core_kernel_is_used_where_dtype_and_tile_fit(dtype, tile, wide, fits, fused):
    factor = Factor(by_inner=True, wide=wide)
    element, rounded = DTYPES[dtype.split()[0]], dtype.endswith("rounded")
    form = Product(element, element, tile, factor, factor, wide=False, batch=0, rounded=rounded)
    form = replace(form, **{fused: True}) if fused else form
    general, kernel = product(form if fits else replace(form, rounded=False)), best(form)
    assert (kernel.source, kernel.parameters, kernel.work) == (
        general.source,
        general.parameters,
        general.work,
    )
    assert bool(kernel.native) is fits
    if fits:
        assert f"KERNEL void {general.name}(" in kernel.native
        assert nvrtc.text(kernel, (7, 5)) == nvrtc.text(general, (7, 5))
        assert nvrtc.text(kernel, (8, 0)).endswith(kernel.native)


@pytest.fixture
def precision_high():
    mt.set_float32_matmul_precision("high")
    yield
    mt.set_float32_matmul_precision("highest")


def test_float32_factors_are_rounded_only_with_precision_high(request):
    ops = CudaOps(machine := Recorder())
    x = mt.ones(1024, 1024, backend=ops)

    def multiply():
        (x @ x.T) @ x
        return [launch.kernel.name.endswith("_rounded") for launch in machine.record.launches[-2:]]

    assert multiply() == [False, False]
    request.getfixturevalue("precision_high")
    assert multiply() == [True, True]
    mt.set_float32_matmul_precision("highest")
    assert multiply() == [False, False]


@pytest.mark.gpu
@pytest.mark.parametrize("own_kernels", [True, False])
@pytest.mark.parametrize("shape", [(1024, 1024, 1024), (256, 4096, 384), (1500, 532, 1388)])
def test_matmul_with_precision_high_is_accurate_to_ten_bits(
    cubin_ops, precision_high, monkeypatch, shape, own_kernels
):
    rows, inner, columns = shape
    if own_kernels:
        monkeypatch.setattr(cubin_ops.machine, "products", lambda: None)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype("f4") for s in ((rows, inner), (inner, columns)))
    wanted = a.astype("f8") @ b
    x, y = (mt.tensor(each, backend=cubin_ops) for each in (a, b))
    transposed = [mt.tensor(each.T.copy(), backend=cubin_ops).T for each in (a, b)]
    for left in (x, transposed[0]):
        for right in (y, transposed[1]):
            error = np.linalg.norm((left @ right).numpy() - wanted) / np.linalg.norm(wanted)
            assert 1e-5 < error < 1e-3


def test_nan_in_last_row_and_column_does_not_spread(backend):
    """Threads beyond the edge read the last row; only the valid part of a strip is multiplied."""
    a, b = small_integers((9, 5)), small_integers((5, 9), seed=1)
    left, right = a.copy(), b.copy()
    left[-1] = np.nan
    right[:, -1] = np.inf
    product = backend.to_host(backend.matmul(*map(backend.from_host, (left, right))))
    assert np.array_equal(product[:-1, :-1], (a @ b)[:-1, :-1])
    assert np.isnan(product[-1]).all()


def test_integer_matmul_matches_numpy(backend):
    a, b = small_integers((3, 4), "int32"), small_integers((4, 2), "int32", 1)
    product = backend.matmul(backend.from_host(a), backend.from_host(b))
    assert np.array_equal(backend.to_host(product), a @ b)


@pytest.mark.parametrize(
    "barrier", range(3), ids=["first barrier", "second barrier", "third barrier"]
)
def test_removing_any_barrier_is_a_race(barrier):
    f32 = DTYPES["float32"]
    factor = Factor(by_inner=True, wide=False)
    correct = product(Product(f32, f32, Tile(8, 8, 4, 4, 4), factor, factor, wide=False, batch=0))
    lines = correct.source.splitlines()
    barriers = [i for i, text in enumerate(lines) if "syncthreads" in text]
    assert len(barriers) == 3
    lines[barriers[barrier]] = lines[barriers[barrier]].replace("cuda.syncthreads()", "pass")
    machine = Simulator()
    memory = [machine.upload(np.ones(144, "f4")), 0] * 3
    numbers = (1, 8, 18, 8, 18, 18, 1, 1, 8)  # four strips, and half of one
    machine.launch(machine.load(correct), (1, 1), 4, numbers, memory)
    faulty = machine.load(Kernel(correct.name, "\n".join(lines), correct.parameters))
    with pytest.raises(RaceError):
        machine.launch(faulty, (1, 1), 4, numbers, memory)


# --- Biases and their gradients -------------------------------------------------------------------

MORE_ROWS_THAN_THREADS, MORE_THREADS = Tile(32, 4, 4, 4, 4), Tile(4, 32, 4, 4, 4)


@pytest.mark.parametrize("tile", [MORE_ROWS_THAN_THREADS, MORE_THREADS], ids=str)
@pytest.mark.parametrize("span", [None, 8])
@pytest.mark.parametrize("dtype", DTYPES_OF_PRODUCTS)
def test_linear_adds_bias_and_row_sums_are_returned_with_product(
    backend, monkeypatch, tile, span, dtype
):
    shape = rows, inner, columns = 37, 21, 35
    cut = cut_by(tile, (1, *shape), span)
    monkeypatch.setattr("mt_cuda.matrices.planning.choose", lambda *_: cut)
    ops = CudaOps(backend.machine)
    a, b = small_integers((rows, inner), dtype), small_integers((inner, columns), dtype, 1)
    bias = small_integers((columns,), dtype, 2)
    left, right, bias_data = map(ops.from_host, (a, b, bias))
    assert np.array_equal(ops.to_host(linear(ops, left, right, bias_data)), a @ b + bias)
    product, sums = map(ops.to_host, product_and_sums(ops, left, right))
    assert np.array_equal(product, a @ b)
    assert np.array_equal(sums, a.sum(1))


def test_linear_accepts_bias_with_offset(backend):
    a, b, biases = small_integers((6, 5)), small_integers((5, 8)), small_integers((24,), seed=2)
    bias = backend.from_host(biases).like((8,), (1,), 3)
    found = linear(backend, backend.from_host(a), backend.from_host(b), bias)
    assert np.array_equal(backend.to_host(found), a @ b + biases[3:11])


# --- The choice of the tile ---------------------------------------------------------------------

SIZES = st.integers(1, 60000)


@settings(max_examples=200, deadline=None)
@given(batches=st.sampled_from([1, 1, 1, 8, 96]), rows=SIZES, inner=SIZES, columns=SIZES)
def test_large_matmul_occupies_every_multiprocessor(batches, rows, inner, columns):
    cut = choose((batches, rows, inner, columns), mt.float32, GPU)
    assert (cut.parts - 1) * cut.span < inner <= cut.parts * cut.span
    assert cut.parts == 1 or cut.span % cut.tile.depth == 0
    covered = -(-rows // cut.tile.rows) * -(-columns // cut.tile.columns) * batches
    assert cut.tiles == covered
    assert cut.tile.threads <= GPU.threads
    smallest = min(tile.rows * tile.columns for tile in TILES)
    if (
        batches * rows * inner * columns > LARGE_PRODUCT
        and batches * rows * columns >= 132 * smallest
    ):
        assert cut.blocks >= 132
    if batches * rows * inner * columns > LARGE_PRODUCT and inner > 132 * 2 * cut.tile.depth:
        assert cut.blocks >= 132


@pytest.mark.parametrize(
    ("shape", "rows", "columns"),
    [
        ((1, 4096, 4096, 4096), (128, 128), (128, 128)),
        ((1, 50000, 25, 8), (64, 256), (8, 16)),
        ((1, 8, 25, 50000), (8, 16), (64, 256)),
        ((1, 8, 50000, 25), (8, 16), (8, 64)),
        ((1, 384, 4096, 384), (32, 64), (32, 64)),
    ],
)
def test_narrow_matmul_uses_narrow_tiles(shape, rows, columns):
    tile = choose(shape, mt.float32, GPU).tile
    assert rows[0] <= tile.rows <= rows[1]
    assert columns[0] <= tile.columns <= columns[1]


def test_accumulators_of_every_tile_fit_into_registers():
    for tile in TILES:
        assert tile.threads % 32 == 0
        assert 8 * tile.each_rows * tile.each_columns <= 512
    assert choose((1, 4096, 4096, 4096), mt.float64, GPU).tile.each_rows * 8 <= 64


def test_matmul_with_long_inner_dimension_occupies_every_multiprocessor():
    machine = Recorder()
    with use_backend(CudaOps(machine)):
        upstream, patches = mt.ones(50000, 8), mt.ones(50000, 25)
        machine.record.launches.clear()
        upstream.mT @ patches
    multiplied, added = machine.record.launches
    assert multiplied.blocks >= 132
    assert multiplied.operations == 8 * 50000 * 25
    assert added.kernel.name.startswith("add_float32")


def test_simulator_uses_tiny_tiles():
    assert choose((1, 9, 9, 9), mt.float32, Simulator.size).tile in tiles.TINY
