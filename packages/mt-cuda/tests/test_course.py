"""The kernels of the course's exercises: block sums, and products within one block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_cuda import CudaOps, RaceError, Simulator
from mt_cuda.c.translation import to_c
from mt_cuda.core.kernel import Kernel
from mt_cuda.course import block_product, block_sums, mm_practice, sum_practice
from mt_tensor.errors import BackendMismatchError, DomainError, DTypeError, ShapeError
from mt_tensor.extending import DTYPES

BACKENDS = [CudaOps(Simulator(order)) for order in ("forward", "reversed")]
NUMBERS = sorted(name for name in DTYPES if name != "bool")


def small_integers(*shape, seed=0):
    """Return integers so small that sums and products are exact in every dtype."""
    return np.random.default_rng(seed).integers(0, 4, shape)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 40), st.integers(1, 12), st.sampled_from(NUMBERS), st.sampled_from(BACKENDS))
def test_sum_practice_sums_each_block(n, block, dtype, backend):
    x = small_integers(n)
    sums = sum_practice(mt.tensor(x, dtype=dtype, backend=backend), block)
    assert sums.dtype is DTYPES[dtype]
    assert sums.tolist() == [x[i : i + block].sum() for i in range(0, n, block)]


@settings(max_examples=30, deadline=None)
@given(
    st.tuples(*[st.integers(0, 4)] * 3), st.integers(4, 6), st.booleans(), st.sampled_from(NUMBERS)
)
def test_mm_practice_multiplies_within_one_block(shape, block, transposed, dtype):
    rows, inner, columns = shape
    a, b = small_integers(rows, inner), small_integers(inner, columns, seed=1)
    left = mt.tensor(a, dtype=dtype, backend=BACKENDS[0])
    right = mt.tensor(b.T if transposed else b, dtype=dtype, backend=BACKENDS[0])
    product = mm_practice(left, right.mT if transposed else right, block)
    assert product.dtype is DTYPES[dtype]
    assert product.tolist() == (a @ b).tolist()


def test_sum_practice_accepts_strided_input():
    x = mt.arange(9.0, backend=BACKENDS[1])[1::2]
    assert sum_practice(x, 3).tolist() == [1 + 3 + 5, 7]


@pytest.mark.parametrize(
    ("kernel", "threads", "numbers"),
    [
        (block_sums(mt.float32, 5), 5, (5, 1)),
        (block_product(mt.float32, 2), 4, (2,) * 3 + (2, 1) * 2),
    ],
    ids=["sums", "product"],
)
def test_removing_any_barrier_is_a_race(kernel, threads, numbers):
    machine = BACKENDS[0].machine
    memory = [machine.upload(np.ones(8, "f4")), 0]
    operands = memory * ((len(kernel.parameters) - len(numbers)) // 2)
    machine.launch(machine.load(kernel), (1, 1), threads, numbers, operands)
    lines = kernel.source.splitlines()
    barriers = [i for i, line in enumerate(lines) if "syncthreads" in line]
    assert barriers
    for barrier in barriers:
        faulty = [*lines]
        faulty[barrier] = faulty[barrier].replace("cuda.syncthreads()", "pass")
        loaded = machine.load(Kernel(kernel.name, "\n".join(faulty), kernel.parameters))
        with pytest.raises(RaceError):
            machine.launch(loaded, (1, 1), threads, numbers, operands)


def test_practice_kernels_translate_to_c_with_barriers():
    for kernel in (block_sums(mt.float16, 32), block_product(mt.int32, 32)):
        assert "BARRIER;" in to_c(kernel)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: sum_practice(x.to("numpy")), BackendMismatchError, r"x\.to\('cuda'\)"),
        (lambda x: sum_practice(x[0] > 0), DTypeError, "bool tensor"),
        (sum_practice, ShapeError, "one dimension"),
        (lambda x: sum_practice(x[0], 0), DomainError, "from 1 to 1024; 0 was given"),
        (lambda x: sum_practice(x[0], 1025), DomainError, "1025 was given"),
        (lambda x: mm_practice(x, x, 33), DomainError, "from 1 to 32; 33 was given"),
        (lambda x: mm_practice(x, x[0]), ShapeError, "cannot be multiplied"),
        (lambda x: mm_practice(x, x[:2]), ShapeError, "cannot be multiplied"),
        (lambda x: mm_practice(x, x, 2), ShapeError, "uses as many blocks"),
        (lambda x: mm_practice(x, x.double()), DTypeError, "one dtype"),
        (lambda x: mm_practice(x, mt.ones(3, 3, backend=BACKENDS[1])), BackendMismatchError, "one"),
    ],
)
def test_practice_function_rejects_invalid_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(mt.ones(3, 3, backend=BACKENDS[0]))
