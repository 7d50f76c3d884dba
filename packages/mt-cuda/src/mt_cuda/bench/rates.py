"""What the kernels reach on this machine's GPU.

Everything is measured against the GPU itself: element-wise operations and reductions against the
rate at which the driver copies memory, which is as fast as memory goes; matrix products in
operations a second. Times are those of the device, between two events on the stream, the median of
several runs after a warm-up; only the cost of a launch is host time. Whole steps of training, which
other packages offer, are measured by the clock until the device is done, and how long the host took
to say what is to be done.
"""

from __future__ import annotations

import functools
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

from mt_cuda.bench.launches import steps
from mt_cuda.core.backend import CudaOps
from mt_cuda.core.gpu import Gpu
from mt_cuda.core.machine import Machine
from mt_cuda.memory.events import Events
from mt_operators import OPERATORS
from mt_tensor import Tensor, TensorData, float32, no_grad, use_backend
from mt_tensor.errors import BackendUnavailableError

MEGA = 1 << 20


class Bench:
    """Measurements on one GPU.

    Attributes:
        ops: the backend.
        events: what tells the time on the GPU.
        runs: how often each thing is timed.
    """

    def __init__(self, gpu: Machine, runs: int, events: Any = None) -> None:
        self.ops = CudaOps(gpu)
        self.events = events or Events(cast(Gpu, gpu))
        self.runs = runs
        self.copy_rate = 0.0

    def seconds(self, action: Callable[[], Any]) -> float:
        """Return the median time of `action` on the device."""
        for _ in range(3):
            action()
        times = []
        for _ in range(self.runs):
            before = self.events.mark()
            action()
            after = self.events.mark()
            times.append(self.events.between(before, after))
        return statistics.median(times)

    def filled(self, *shape: int) -> TensorData:
        """Return a tensor of ones."""
        return self.ops.full(shape, float32, 1.0)

    def moves(self, title: str, count: int, action: Callable[[], Any]) -> None:
        """Report an action that reads and writes `count` bytes."""
        rate = count / self.seconds(action) / 1e9
        share = f"{100 * rate / self.copy_rate:5.1f} % of copy" if self.copy_rate else ""
        print(f"{title:<34}{rate:9.0f} GB/s  {share}")

    def memory(self, size: int) -> None:
        """Report copies, element-wise operations and reductions of `size` elements."""
        x, y, out = self.filled(size), self.filled(size), self.filled(size)
        bytes_ = 4 * size
        copied = self.seconds(lambda: self.events.copy_memory(x.storage, out.storage))
        self.copy_rate = 2 * bytes_ / copied / 1e9
        print(f"{'copy by the driver':<34}{self.copy_rate:9.0f} GB/s")
        tanh, add, mul = (OPERATORS[name] for name in ("tanh", "add", "mul"))
        self.moves(
            "map: neg",
            2 * bytes_,
            lambda: self.ops.elementwise(OPERATORS["neg"].value)((out,), x),
        )
        self.moves("map: tanh", 2 * bytes_, lambda: self.ops.elementwise(tanh.value)((out,), x))
        self.moves("zip: add", 3 * bytes_, lambda: self.ops.elementwise(add.value)((out,), x, y))
        gradient, grads = mul.gradient((True, True)), (self.filled(size), self.filled(size))
        self.moves(
            "fused backward: mul",
            5 * bytes_,  # the output is not needed, so it is not read
            lambda: self.ops.elementwise(gradient)(grads, out, x, y, out),
        )
        side = 1 << (size.bit_length() // 2)
        self.layouts(x.storage, out.storage, (size // side, side))

    def layouts(self, source: Any, target: Any, shape: tuple[int, int]) -> None:
        """Report what reads across rows, repeats them or folds them, of matrices of `shape`."""
        rows, columns = shape
        count = 4 * rows * columns
        x, out = (TensorData(storage, shape, dtype=float32) for storage in (source, target))
        transposed = TensorData(target, (columns, rows), dtype=float32)
        add, row = OPERATORS["add"], self.filled(columns).expand(shape)
        across = x.permute(1, 0)
        self.moves(
            "strided: copy of a transpose", 2 * count, lambda: self.ops.copy(across, transposed)
        )
        self.moves(
            "broadcast: matrix + row",
            2 * count,
            lambda: self.ops.elementwise(add.value)((out,), x, row),
        )
        for title, dims in (("all", (0, 1)), ("over rows", (1,)), ("over columns", (0,))):
            fold = functools.partial(self.ops.reduce, add, x, dims)
            self.moves(f"sum {title}", count, fold)

    def rows(self, size: int) -> None:
        """Report what reads rows of `size` elements and writes as many, by way of their sums."""
        side = min(1024, 1 << (size.bit_length() // 2))
        x, weight = (
            Tensor._make(self.filled(*shape), self.ops) for shape in ((size // side, side), (side,))
        )
        norm = self.ops.kernel("layer_norm")
        with no_grad():
            self.moves("softmax", 8 * size, lambda: x.softmax(1))
            self.moves(
                "layer norm", 8 * size, lambda: norm.value((False,) * 3, x, weight, weight, 1, 1e-5)
            )

    def products(self, sides: Sequence[int]) -> None:
        """Report square matrix products."""
        for side in sides:
            a, b = (self.filled(side, side) for _ in range(2))
            taken = self.seconds(functools.partial(self.ops.matmul, a, b))
            print(f"{f'matmul {side} x {side}':<34}{2 * side**3 / taken / 1e9:9.0f} GFLOP/s")

    def launches(self, count: int = 2000) -> None:
        """Report what the host needs for one small operation."""
        x, out = self.filled(64), self.filled(64)
        negate = OPERATORS["neg"].value
        for _ in range(100):
            self.ops.elementwise(negate)((out,), x)
        self.ops.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            self.ops.elementwise(negate)((out,), x)
        taken = (time.perf_counter() - start) / count
        self.ops.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            self.ops.empty((64,), float32)
        allocated = (time.perf_counter() - start) / count
        print(f"{'host time of one operation':<34}{1e6 * taken:9.2f} µs")
        print(f"{'host time of one allocation':<34}{1e6 * allocated:9.2f} µs")

    def steps(self) -> None:
        """Report how long the steps of training take that installed packages offer."""
        for name, make in steps().items():
            with use_backend(self.ops):
                step = make()
                for _ in range(3):
                    step()
                self.ops.synchronize()
                whole, said = zip(*(self.timed(step) for _ in range(self.runs)), strict=True)
            taken, host = (1e3 * statistics.median(times) for times in (whole, said))
            print(f"{f'step {name}':<34}{taken:9.2f} ms    {host:.2f} ms of the host")

    def timed(self, action: Callable[[], Any]) -> tuple[float, float]:
        """Return how long an action takes in seconds, and how long until all of it was said."""
        start = time.perf_counter()
        action()
        said = time.perf_counter() - start
        self.ops.synchronize()
        return time.perf_counter() - start, said


def measure(size: int, runs: int) -> int:
    """Print all measurements; return 1, with the reason, where there is no GPU.

    Args:
        size: million elements.
        runs: timings of each.
    """
    try:
        gpu = Gpu()
    except BackendUnavailableError as error:
        print(f"nothing to measure: {error}", file=sys.stderr)
        return 1
    print(gpu.describe())
    bench = Bench(gpu, runs)
    bench.memory(size * MEGA)
    bench.rows(size * MEGA)
    bench.products((512, 1024, 2048, 4096))
    bench.launches()
    bench.steps()
    return 0
