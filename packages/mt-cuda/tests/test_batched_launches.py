"""Calls in a `batch_calls()` block: batched in fewer launches, with the same results."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.batching.groups import TENSORS
from mt_cuda.recording import Recorder

RNG = np.random.default_rng(0)
SHAPES = [(3, 5), (700,), (1,), (2, 3, 4), (1100,)] * 4  # more than fit into one launch


@pytest.fixture(params=["forward", "reversed"])
def ops(request):
    return CudaOps(Simulator(request.param))


def tensors(ops, shapes=SHAPES, dtype="float32"):
    return [mt.tensor(RNG.random(shape).astype(dtype), backend=ops) for shape in shapes]


def count_launches(action, shapes=SHAPES):
    """Return the number of launches of an action on tensors in a `batch_calls()` block."""
    machine = Recorder()
    ops = CudaOps(machine)
    inputs = tensors(ops, shapes)
    with ops.batch_calls():
        action(*inputs)
    return len(machine.record.launches)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32"])
def test_batched_updates_equal_separate_updates(ops, dtype):
    a, b = (
        [mt.tensor(RNG.integers(0, 9, s), backend=ops).to(getattr(mt, dtype)) for s in SHAPES]
        for _ in range(2)
    )
    expected = [(x + 3 * y).tolist() for x, y in zip(a, b, strict=True)]
    with ops.batch_calls():
        for x, y in zip(a, b, strict=True):
            x.add_(y, alpha=3)
    assert [x.tolist() for x in a] == expected


def test_batched_calls_may_share_a_0d_operand(ops):
    inputs, factor = tensors(ops), mt.tensor(0.5, backend=ops)
    expected = [x.numpy() * np.float32(0.5) for x in inputs]
    with ops.batch_calls():
        for x in inputs:
            x.mul_(factor)
    for x, wanted in zip(inputs, expected, strict=True):
        np.testing.assert_array_equal(x.numpy(), wanted)


def test_dependent_calls_run_in_order(ops):
    x, y, z = tensors(ops, [(40,)] * 3)
    a, b, c = x.numpy(), y.numpy(), z.numpy()
    with ops.batch_calls():
        y.add_(x)
        z.add_(y)  # reads the result of the previous call
        x.add_(z)  # overwrites an operand of the first call
        x.add_(z)  # writes to it again
    b = b + a
    c = c + b
    np.testing.assert_array_equal(y.numpy(), b)
    np.testing.assert_array_equal(z.numpy(), c)
    np.testing.assert_array_equal(x.numpy(), a + c + c)


def test_overlapping_views_are_updated_in_order(ops):
    base = mt.arange(60.0, backend=ops)
    parts = [base[:20], base[10:30], base[30:50], base[40:]]
    expected = np.arange(60.0, dtype=np.float32)
    for part in (slice(0, 20), slice(10, 30), slice(30, 50), slice(40, 60)):
        expected[part] = expected[part] * 2 + expected[part]
    with ops.batch_calls():
        for part in parts:
            part.add_(part, alpha=2)
    np.testing.assert_array_equal(base.numpy(), expected)


def test_views_with_different_offsets_are_distinguished(ops):
    base = mt.arange(30.0, backend=ops)
    other = mt.ones(29, backend=ops)
    with ops.batch_calls():
        other.add_(base[1:])
        other.add_(base[:-1])
    np.testing.assert_array_equal(other.numpy(), 2 + 2 * np.arange(29.0))


def test_strided_operand_gives_the_same_result(ops):
    matrix = mt.tensor(RNG.random((6, 7)), backend=ops)
    wide = mt.zeros(7, 6, backend=ops, dtype=mt.float64)
    with ops.batch_calls():
        wide.add_(matrix.mT)
    np.testing.assert_array_equal(wide.numpy(), matrix.numpy().T)


@pytest.mark.parametrize("read", [lambda x, ops: x.tolist(), lambda x, ops: x[0].item()])
def test_reading_a_tensor_launches_delayed_calls(ops, read):
    x = mt.zeros(5, backend=ops)
    with ops.batch_calls():
        x.add_(1)
        assert np.all(np.array(read(x, ops)) == 1)


def test_exception_in_block_keeps_earlier_calls(ops):
    x = mt.ones(5, backend=ops)

    def fail():
        with ops.batch_calls():
            x.add_(x)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert x.tolist() == [2.0] * 5
    x.add_(x)  # no call is delayed outside of a block
    assert x.tolist() == [4.0] * 5


def test_nested_blocks_are_batched_as_one():
    def double(x):
        with x.backend.batch_calls():
            x.add_(x)

    assert count_launches(lambda *inputs: [double(x) for x in inputs]) == -(-len(SHAPES) // TENSORS)


def test_only_calls_of_one_kernel_in_sequence_are_batched():
    def double(*inputs):
        for x in inputs:
            x.add_(x)

    def alternately(*inputs):
        for x in inputs:
            x.add_(x)
            x.mul_(x)

    assert count_launches(double) == -(-len(SHAPES) // TENSORS)
    assert count_launches(alternately) == 2 * len(SHAPES)
    assert count_launches(double, [(5,)]) == 1
    assert count_launches(double, []) == 0


@pytest.mark.parametrize("wait", [CudaOps.synchronize, CudaOps.shared_memory])
def test_synchronize_and_shared_memory_launch_delayed_calls(wait):
    machine = Recorder()
    ops = CudaOps(machine)
    (x,) = tensors(ops, [(5,)])
    with ops.batch_calls():
        x.add_(x)
        assert not machine.record.launches
        wait(ops)
        assert len(machine.record.launches) == 1
