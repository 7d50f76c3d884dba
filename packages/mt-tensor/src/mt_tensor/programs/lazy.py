"""Deferred execution: `with lazy():`.

Each call of a primitive is recorded instead of run, and its result is a view whose elements are
computed later. When elements are needed, the calls that they depend on run as one optimized
program, without those whose results have become unreachable.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from mt_autodiff.core.mode import recording
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import reduce_shape
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.programs.code_writer import CodeWriter
from mt_tensor.programs.optimization import eliminate_dead_code, optimize
from mt_tensor.programs.program import Buffer, Instruction, Program, View
from mt_tensor.programs.pytree import map_leaves
from mt_tensor.programs.storages import alias_group, storage_key
from mt_tensor.tape import Call, Tape, active_tapes, capturing

MAX_PROGRAMS = 16
"""The number of latest programs that a block keeps for inspection."""


class Lazy(Tape):
    """A block in which nothing is computed before its elements are needed.

    Attributes:
        programs: the latest programs that have run.
    """

    captures = True

    def __init__(self) -> None:
        super().__init__()
        self.programs: deque[Program] = deque(maxlen=MAX_PROGRAMS)
        self._pending: list[Instruction] = []
        self._lazy: dict[Buffer, weakref.ref[LazyBuffer]] = {}
        self._inputs: dict[Any, Buffer] = {}
        self._lock = threading.RLock()
        self._count = itertools.count()

    def __enter__(self) -> Self:
        """Begin to defer calls, unless another tape captures them already."""
        return self if capturing() is not None else super().__enter__()

    def __exit__(self, *error: object) -> None:
        """Compute the buffers that are still reachable, and stop deferring."""
        if self in active_tapes():
            super().__exit__(*error)
            self.compute()

    def as_single_call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Run a function that reads elements on the host; reading an element computes it."""
        return function(*arguments, **options)

    def handle(self, call: Call) -> Any:
        """Record a call that allocates its result; compute everything pending before a change."""
        name, arguments = call.name, call.arguments
        if name == "kernel":
            return None  # the layout of its result is not known without running it
        out = arguments[0] if call.formula is not None else arguments[-1]
        if call.formula is not None or name == "copy":
            if isinstance(out, Layout):
                count = 1 if call.formula is None else call.formula.outputs
                results = self._defer(call, [out] * count)
                return results[0] if count == 1 else results
        elif name in RESULT_LAYOUTS:
            return self._defer(call, [RESULT_LAYOUTS[name](*arguments, **call.options)])[0]
        elif name != "scatter":
            return call.run()
        self.compute()
        return call.run()

    # --- Recording ------------------------------------------------------------------------------

    def _defer(self, call: Call, layouts: Sequence[Layout]) -> list[TensorData]:
        """Record a call, and return its results, whose elements are computed later."""
        results: list[TensorData] = []
        views = []
        for layout in layouts:
            data = TensorData.of_storage(None, layout)
            buffer = Buffer(data, object(), "m", next(self._count))
            lazy = LazyBuffer(self, buffer)
            self._lazy[buffer] = weakref.ref(lazy)
            results.append(LazyData(lazy, layout))
            views.append(buffer.view)
        arguments, options = map_leaves((call.arguments, dict(call.options)), self._as_operand)
        made = views if len(views) > 1 else views[0]
        instruction = Instruction(
            call.name, call.backend, call.function, arguments, options, made, formula=call.formula
        )
        self._pending.append(instruction)
        return results

    def _as_operand(self, value: Any) -> Any:
        if not isinstance(value, TensorData):
            return value
        if isinstance(value, LazyData) and value.lazy.block is self and value.lazy.data is None:
            return View(value.lazy.buffer, value.layout)
        key = storage_key(value.storage)
        if key not in self._inputs:
            number = len(self._inputs)
            self._inputs[key] = Buffer(value, alias_group(value.storage), "x", number)
        return View(self._inputs[key], value.layout)

    # --- Computing ------------------------------------------------------------------------------

    def compute(self, lazy: LazyBuffer | None = None) -> None:
        """Compute a buffer and its dependencies; every reachable buffer if none is given."""
        with self._lock:
            alive = {buffer for buffer, ref in self._lazy.items() if ref() is not None}
            requested = alive if lazy is None else alive & {lazy.buffer}
            calls = eliminate_dead_code(self._pending, [buffer.group for buffer in requested])
            running = set(calls)
            rest = [call for call in self._pending if call not in running]
            later = eliminate_dead_code(rest, [buffer.group for buffer in alive - requested])
            needed = alive.union(view.buffer for call in later for view in call.reads)
            made = {view.buffer for call in calls for view in call.makes}
            self._run(calls, [buffer for buffer in made if buffer in needed])
            self._pending = later
            pending = {view.buffer for call in later for view in call.makes}
            self._lazy = {buffer: ref for buffer, ref in self._lazy.items() if buffer in pending}
            if not later:
                self._inputs.clear()

    def _run(self, calls: list[Instruction], outputs: Sequence[Buffer]) -> None:
        """Run instructions as one program, and keep the elements of some buffers."""
        if not outputs:
            return
        views = [buffer.view for buffer in outputs]
        program = optimize(Program("lazy", calls, views, views))
        code = CodeWriter()
        code.instructions(program)
        code.lines.append(f"return [{', '.join(map(code.expression, views))}]")
        before = recording.set(False)
        try:
            with self.paused():
                results = code.function(runs_once=True)(None, None)
        finally:
            recording.reset(before)
        for buffer, data in zip(outputs, results, strict=True):
            lazy = self._lazy[buffer]()
            buffer.data, buffer.origin = data, "x"
            if lazy is not None:
                lazy.data = data
        self.programs.append(program)


@dataclass(eq=False)
class LazyBuffer:
    """A buffer whose elements may not be computed yet.

    Attributes:
        block: the block that computes them.
        buffer: the buffer in programs.
        data: the elements; None until they are computed.
    """

    block: Lazy
    buffer: Buffer
    data: TensorData | None = None

    def storage(self) -> Any:
        """Return the storage; compute the elements if necessary."""
        if self.data is None:
            self.block.compute(self)
        if self.data is None:
            raise RuntimeError("a deferred computation has failed: its elements do not exist.")
        return self.data.storage


class LazyData(TensorData):
    """A view of elements that may not be computed yet.

    Attributes:
        lazy: the buffer.
    """

    __slots__ = ("lazy",)

    def __init__(self, lazy: LazyBuffer, layout: Layout) -> None:
        self.lazy = lazy
        self.layout = layout
        self._storage = None
        self._version = [0]

    @property
    def storage(self) -> Any:
        """The storage of the backend; reading it computes the elements."""
        if self._storage is None:
            self._storage = self.lazy.storage()
        return self._storage

    @property
    def array(self) -> Any:
        """The elements as a strided NumPy array over the same memory."""
        _ = self.storage
        return super().array

    def with_layout(self, layout: Layout) -> TensorData:
        """Return another view of the same storage."""
        view = LazyData(self.lazy, layout)
        view._version = self._version
        return view


# --- Layouts of results ---------------------------------------------------------------------------


def _full(shape: Any, dtype: Any, _: Any) -> Layout:
    return row_major(shape, dtype)


def _reduce(_: Any, source: TensorData, dims: tuple[int, ...], keepdim: bool = False) -> Layout:
    return row_major(reduce_shape(source.shape, dims, keepdim), source.dtype)


def _matmul(a: TensorData, b: TensorData) -> Layout:
    batch = TensorData.shape_broadcast(a.shape[:-2], b.shape[:-2])
    return row_major((*batch, *a.shape[:-1][-1:], *b.shape[1:][-1:]), a.dtype)


def _gather(source: TensorData, _: int, index: TensorData) -> Layout:
    return row_major(index.shape, source.dtype)


def _concatenate(parts: Sequence[TensorData], dim: int) -> Layout:
    shape = list(parts[0].shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    return row_major(tuple(shape), parts[0].dtype)


RESULT_LAYOUTS: dict[str, Callable[..., Layout]] = {
    "full": _full,
    "reduce": _reduce,
    "matmul": _matmul,
    "gather": _gather,
    "concatenate": _concatenate,
}
"""The layout of the result of each primitive that always allocates it, by its arguments."""
