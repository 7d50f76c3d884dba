"""The simulator runs kernels, and detects errors that a GPU ignores."""

import re
from dataclasses import replace

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import (
    BarrierError,
    CudaOps,
    OutOfBoundsError,
    OutOfMemoryError,
    RaceError,
    SimulationError,
    Simulator,
)
from mt_cuda.core import indexed
from mt_cuda.core.elements import operand
from mt_cuda.core.kernel import define, numbers

ORDERS = ["forward", "reversed"]
THREADS = 8


def run(body, order="forward", count=THREADS, grid=(1, 1), threads=THREADS):
    """Run a kernel with this body on `x` = 0, 1, 2, ..., and return `y`."""
    parameters = [*numbers("n"), *operand("x", mt.float32), *operand("y", mt.float32)]
    kernel = define("planted", parameters, body.strip("\n").splitlines())
    machine = Simulator(order)
    x = machine.upload(np.arange(count, dtype=np.float32))
    y = machine.upload(np.full(count, -1, np.float32))
    machine.launch(machine.load(kernel), grid, threads, (count,), (x, 0, y, 0))
    return machine.download(y, count).tolist()


REVERSE = """
row = cuda.shared.array(8, float32)
t = cuda.threadIdx.x
row[t] = x[t]
{barrier}
y[t] = row[7 - t]
"""


@pytest.mark.parametrize("order", ORDERS)
def test_barrier_makes_shared_writes_visible(order):
    assert run(REVERSE.format(barrier="cuda.syncthreads()"), order) == [7, 6, 5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("order", ORDERS)
def test_missing_barrier_is_a_race(order):
    with pytest.raises(RaceError, match=r"planted: thread \d of block .* put cuda.syncthreads"):
        run(REVERSE.format(barrier=""), order)


@pytest.mark.parametrize("order", ORDERS)
def test_overwriting_an_element_that_another_thread_reads_is_a_race(order):
    body = REVERSE.format(barrier="cuda.syncthreads()") + "row[t] = float32(0.0)\n"
    with pytest.raises(RaceError, match="since the last barrier"):
        run(body, order)


@pytest.mark.parametrize(("order", "first", "writer"), [("forward", 0, 2), ("reversed", 7, 5)])
def test_writing_an_element_that_several_threads_have_read_is_a_race(order, first, writer):
    body = f"""
row = cuda.shared.array(8, float32)
row[cuda.threadIdx.x] = x[0]
cuda.syncthreads()
y[0] = row[3]
if cuda.threadIdx.x == {writer}:
    row[3] = x[1]
"""
    race = f"thread {writer} .* it writes element 3 .* thread {first} read since the last barrier"
    with pytest.raises(RaceError, match=race):
        run(body, order)


@pytest.mark.parametrize("order", ORDERS)
def test_writing_one_element_from_two_threads_is_a_race(order):
    with pytest.raises(RaceError, match="writes element 0"):
        run("row = cuda.shared.array(8, float32)\nrow[0] = x[cuda.threadIdx.x]", order)


class ModifyingSimulator(Simulator):
    """A simulator that changes the source of every kernel with barriers."""

    def __init__(self, order, change):
        super().__init__(order)
        self.change = change

    def load(self, kernel):
        has_barriers = "syncthreads" in kernel.source
        return super().load(
            replace(kernel, source=self.change(kernel.source)) if has_barriers else kernel
        )


BARRIER = r"\n *cuda\.syncthreads\(\)"


def without_barrier(which):
    """Return a function that removes one barrier from a source."""

    def change(source):
        barriers = list(re.finditer(BARRIER, source))
        assert len(barriers) == 2
        return source[: barriers[which].start()] + source[barriers[which].end() :]

    return change


def barrier_in_branch(source):
    """Move the first barrier into a branch that only threads with elements reach."""
    return re.sub(BARRIER, "\n        cuda.syncthreads()", source, count=1)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("change", "fault", "count"),
    [
        (lambda source: source, None, 50),
        (without_barrier(0), RaceError, 50),
        (without_barrier(1), RaceError, 50),
        (barrier_in_branch, BarrierError, 5),
    ],
    ids=["sound", "first barrier", "second barrier", "barrier in a branch"],
)
def test_wrong_barrier_in_reduction_is_detected(order, change, fault, count):
    x = mt.ones(count, backend=CudaOps(ModifyingSimulator(order, change), plain=True))
    if fault is None:
        assert x.sum().item() == count
    else:
        with pytest.raises(fault, match="add_float32_rows"):
            x.sum()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("position", [3, -1])
def test_gather_with_index_out_of_range_raises(order, position):
    kernel = indexed.gather(mt.float32, 1, "index32")
    machine = Simulator(order)
    x, y = machine.upload(np.ones(3, "f4")), machine.allocate(2, mt.float32)
    index = machine.upload(np.array([0, position]))
    launch = (machine.load(kernel), (1, 1), THREADS, (2, 1, 0, 1, 1), (x, 0, index, 0, y, 0))
    with pytest.raises(
        OutOfBoundsError,
        match=rf"thread 1 .*position {position} is outside of the array of 3 elements",
    ):
        machine.launch(*launch)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "body",
    [
        "if cuda.threadIdx.x == 0:\n    cuda.syncthreads()",
        "if cuda.threadIdx.x > 5:\n    cuda.syncthreads()\ncuda.syncthreads()",
        "for i in range(cuda.threadIdx.x):\n    cuda.syncthreads()",
    ],
)
def test_barrier_that_some_threads_do_not_reach_raises(body, order):
    with pytest.raises(BarrierError, match=r"wait at a barrier that thread\(s\) .* never reach"):
        run(body, order)


@pytest.mark.parametrize("body", ["y[n] = x[0]", "y[0] = x[-1]", "y[-1] = x[0]"])
def test_position_outside_memory_raises(body):
    with pytest.raises(OutOfBoundsError, match=r"planted: thread 0 of block \(0, 0\): position"):
        run(body)


def test_position_outside_shared_memory_raises():
    with pytest.raises(OutOfBoundsError, match="index 8 of shared memory"):
        run("row = cuda.shared.array(8, float32)\nrow[cuda.threadIdx.x + 1] = x[0]")


@pytest.mark.parametrize("order", ORDERS)
def test_slices_of_memory_are_views_with_checked_bounds(order):
    body = """
row = cuda.shared.array(12, float32)
tail = row[cuda.threadIdx.x:]
source = x[2:]
source = source[-1:]
tail[4] = source[0]
cuda.syncthreads()
y[cuda.threadIdx.x] = row[4 + (cuda.threadIdx.x + 1) % 8]
"""
    assert run(body, order) == [1.0] * 8
    with pytest.raises(RaceError, match="since the last barrier"):
        run(body.replace("cuda.syncthreads()", ""), order)
    for line in ("y[0] = x[3:][5]", "y[-4:][3] = x[0]"):
        with pytest.raises(OutOfBoundsError, match="position"):
            run(line, order)


def test_load4_and_store4_check_alignment_bounds_and_races():
    body = """
row = cuda.shared.array(8, float32)
t = cuda.threadIdx.x
{setting}
cuda.syncthreads()
part = load4(row[{start}:], 0)
y[t] = part[t % 4]
"""
    alone = "if t == 0:\n    store4(row, 0, (x[0], x[1], x[2], x[3]))\n"
    assert run(body.format(setting=alone, start=0)) == [0, 1, 2, 3] * 2
    with pytest.raises(SimulationError, match="16 bytes from position 2 are not aligned"):
        run(body.format(setting=alone, start=2))
    with pytest.raises(OutOfBoundsError, match="index 8"):
        run(body.format(setting=alone, start=8))
    with pytest.raises(RaceError, match="writes element 0"):
        run(body.format(setting="store4(row, 0, (x[0], x[1], x[2], x[3]))", start=0))


def test_exception_in_kernel_names_the_thread():
    with pytest.raises(SimulationError, match=r"thread 3 of block \(0, 0\): ZeroDivisionError"):
        run("y[0] = float32(1 // (cuda.threadIdx.x - 3))")


def test_launch_with_wrong_number_of_arguments_raises():
    kernel = define("few", [*operand("y", mt.float32)], ["pass"])
    machine = Simulator()
    with pytest.raises(SimulationError, match="takes 2 arguments, and was launched with 1"):
        machine.launch(machine.load(kernel), (1, 1), 1, (), (machine.allocate(1, mt.float32),))


@pytest.mark.parametrize(("grid", "threads"), [((0, 1), 8), ((1, 0), 8), ((1, 1), 0)])
def test_launch_of_empty_grid_or_block_raises(grid, threads):
    with pytest.raises(SimulationError, match="Launch no kernel for an empty tensor"):
        run("y[0] = x[0]", grid=grid, threads=threads)


def test_uninitialized_memory_is_nan_or_a_marker():
    machine = Simulator()
    assert np.isnan(machine.download(machine.allocate(3, mt.float64), 3)).all()
    assert set(machine.download(machine.allocate(3, mt.int32), 3)) == {0x55}
    assert np.isnan(run("row = cuda.shared.array(8, float32)\ny[0] = row[0]")[0])


def test_too_large_allocation_raises_out_of_memory_error():
    for dtype in (mt.float32, mt.bfloat16):
        with pytest.raises(OutOfMemoryError, match="no memory for 1,000,000,000,000,000 elements"):
            Simulator().allocate(10**15, dtype)


def test_shared_arrays_do_not_overlap():
    body = """
a = cuda.shared.array(8, float32); b = cuda.shared.array(8, float32)
t = cuda.threadIdx.x
a[t] = x[t]
b[t] = x[t] + float32(1)
cuda.syncthreads()
y[t] = a[7 - t] * b[t]
"""
    assert run(body) == [7 * 1, 6 * 2, 5 * 3, 4 * 4, 3 * 5, 2 * 6, 1 * 7, 0]


@pytest.mark.parametrize("order", ORDERS)
def test_each_block_has_its_own_shared_memory(order):
    body = """
row = cuda.shared.array(2, float32)
row[cuda.threadIdx.x] = x[cuda.grid(1)]
cuda.syncthreads()
y[cuda.grid(1)] = row[1 - cuda.threadIdx.x]
"""
    assert run(body, order, grid=(4, 1), threads=2) == [1, 0, 3, 2, 5, 4, 7, 6]


def test_atomic_add_counts_every_thread():
    machine = Simulator()
    kernel = define(
        "count", operand("y", mt.int64, array=True), ["cuda.atomic.add(y, y_at, int64(1))"]
    )
    y = machine.upload(np.zeros(1, np.int64))
    machine.launch(machine.load(kernel), (3, 2), 4, (), (y, 0))
    assert machine.download(y, 1) == 24
