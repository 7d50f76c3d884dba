"""Computing nothing before somebody asks: `with lazy():`.

Each call of a primitive is recorded instead of run, and its result is a promise: a view whose
elements are still to come. Whoever asks for them has the calls behind them run as one program, with
what nobody can ask for any more left out, and neighbouring operations made one pass over memory.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from mt_autodiff.core.mode import recording
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.strides import folded_shape
from mt_tensor.core.tensor_data import TensorData, as_array
from mt_tensor.programs.buffers import group_of, key_of
from mt_tensor.programs.code_writer import Source
from mt_tensor.programs.optimization import planned
from mt_tensor.programs.program import Instruction, Memory, Program, View
from mt_tensor.tape import Call, Tape, active_tapes, capturing

MOST = 16
"""Programs that are kept to look at, the last ones."""


class Lazy(Tape):
    """A block in which nothing is computed before it is asked for.

    Attributes:
        programs: what has been computed, the last programs.
    """

    captures = True

    def __init__(self) -> None:
        super().__init__()
        self.programs: deque[Program] = deque(maxlen=MOST)
        self._pending: list[Instruction] = []
        self._promises: dict[Memory, weakref.ref[Promise]] = {}
        self._before: dict[Any, Memory] = {}
        self._alone = threading.RLock()
        self._count = itertools.count()

    def __enter__(self) -> Self:
        """Begin to record instead of computing, unless another tape does so already."""
        return self if capturing() is not None else super().__enter__()

    def __exit__(self, *error: object) -> None:
        """Compute what is still referenced, and go on as ever."""
        if self in active_tapes():
            super().__exit__(*error)
            self.compute()

    def whole(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Run a function that looks at elements on the host, which are computed then."""
        return function(*arguments, **options)

    def handle(self, call: Call) -> Any:
        """Record a call that returns new memory; compute what is pending before a change."""
        name, arguments = call.name, call.arguments
        if name == "kernel":
            return None  # the layout of its result is not known without running it
        out = arguments[0] if call.formula is not None else arguments[-1]
        if call.formula is not None or name == "copy":
            if isinstance(out, Layout):
                count = 1 if call.formula is None else call.formula.outputs
                made = self._promised(call, [out] * count)
                return made[0] if count == 1 else made
        elif name in SHOWN:
            return self._promised(call, [SHOWN[name](*arguments, **call.options)])[0]
        elif name != "scatter":
            return call.run()
        self.compute()
        return call.run()

    # --- Recording ------------------------------------------------------------------------------

    def _promised(self, call: Call, layouts: Sequence[Layout]) -> list[TensorData]:
        """Record a call, and return its results, which are still to come."""
        promises = []
        for layout in layouts:
            place = TensorData.in_rows(None, layout)
            memory = Memory(place, object(), True, f"m{next(self._count)}")
            promise = Promise(self, memory)
            self._promises[memory] = weakref.ref(promise)
            promises.append(promise)
        views = [View(each.memory, each.memory.layout) for each in promises]
        self._pending.append(
            Instruction(
                call.name,
                call.backend,
                call.function,
                tuple(map(self._marked, call.arguments)),
                {key: self._marked(each) for key, each in call.options.items()},
                views if len(views) > 1 else views[0],
                formula=call.formula,
            )
        )
        return [Promised(each, each.memory.layout) for each in promises]

    def _marked(self, value: Any) -> Any:
        """Return an argument with marks for views."""
        if isinstance(value, TensorData):
            return View(self._memory(value), value.layout)
        return list(map(self._marked, value)) if isinstance(value, list) else value

    def _memory(self, data: TensorData) -> Memory:
        if isinstance(data, Promised) and data.promise.lazy is self and data.promise.data is None:
            return data.promise.memory
        key = key_of(data.storage)
        if key not in self._before:
            name = f"x{len(self._before)}"
            self._before[key] = Memory(data, group_of(data.storage), False, name)
        return self._before[key]

    # --- Computing ------------------------------------------------------------------------------

    def compute(self, promise: Promise | None = None) -> None:
        """Compute a promise and what lies behind it; all that somebody has if none is given."""
        with self._alone:
            alive = {memory for memory, known in self._promises.items() if known() is not None}
            wanted = alive if promise is None else alive & {promise.memory}
            calls, rest = _split(self._pending, wanted)
            later, _ = _split(rest, alive - wanted)  # nobody can ask for others any more
            read = {view.memory for each in later for view in each.reads}
            made = {view.memory for each in calls for view in each.makes}
            self._compute(calls, [memory for memory in made if memory in alive or memory in read])
            self._pending = later
            left = {view.memory for each in later for view in each.makes}
            self._promises = {m: known for m, known in self._promises.items() if m in left}
            if not later:
                self._before.clear()

    def _compute(self, calls: list[Instruction], kept: list[Memory]) -> None:
        """Run calls as one program, and keep the promises of some memory."""
        if not kept:
            return
        views = [View(memory, memory.layout) for memory in kept]
        program = planned(Program("lazy", calls, views, views), once=True)
        source = Source()
        source.calls(program)
        source.lines.append(f"return [{', '.join(map(source.view, views))}]")
        before = recording.set(False)
        try:
            with self.paused():
                results = source.function()(None, None)
        finally:
            recording.reset(before)
        for memory, data in zip(kept, results, strict=True):
            known = self._promises[memory]()
            memory.data, memory.made = data, False
            if known is not None:
                known.data = data
        self.programs.append(program)


def _split(
    calls: Sequence[Instruction], wanted: Iterable[Memory]
) -> tuple[list[Instruction], list[Instruction]]:
    """Return the calls that make some memory, with all behind them, and the others."""
    needed, behind, others = set(wanted), [], []
    for each in reversed(calls):
        if needed.isdisjoint(view.memory for view in each.makes):
            others.append(each)
        else:
            behind.append(each)
            needed.update(view.memory for view in each.reads)
    return behind[::-1], others[::-1]


class Promise:
    """Memory whose elements are still to come.

    Attributes:
        lazy: who computes them.
        memory: what it is in programs.
        data: the elements; None until they are there.
    """

    __slots__ = ("__weakref__", "data", "lazy", "memory")

    def __init__(self, lazy: Lazy, memory: Memory) -> None:
        self.lazy = lazy
        self.memory = memory
        self.data: TensorData | None = None

    def storage(self) -> Any:
        """Return the storage, computed now if it was not before."""
        if self.data is None:
            self.lazy.compute(self)
        if self.data is None:
            raise RuntimeError("nobody has computed what was promised.")
        return self.data.storage


class Promised(TensorData):
    """A view of memory whose elements may be still to come.

    Attributes:
        promise: the memory.
    """

    __slots__ = ("promise",)

    def __init__(self, promise: Promise, layout: Layout) -> None:
        self.promise = promise
        self.layout = layout
        self._storage = None
        self._version = [0]

    @property
    def storage(self) -> Any:
        """The backend's row of elements, which is computed now if it was not before."""
        if self._storage is None:
            self._storage = self.promise.storage()
        return self._storage

    @property
    def array(self) -> Any:
        """The elements as a strided NumPy array over the same memory."""
        try:
            return self._array
        except AttributeError:
            self._array = as_array(self.storage, self.layout)
            return self._array

    def with_layout(self, layout: Layout) -> TensorData:
        """Return another view of the same memory."""
        view = Promised(self.promise, layout)
        view._version = self._version
        return view


# --- What results look like -----------------------------------------------------------------------


def _full(shape: Any, dtype: Any, _: Any) -> Layout:
    return row_major(shape, dtype)


def _reduced(_: Any, source: TensorData, dims: tuple[int, ...], keepdim: bool = False) -> Layout:
    return row_major(folded_shape(source.shape, dims, keepdim), source.dtype)


def _product(a: TensorData, b: TensorData) -> Layout:
    batch = TensorData.shape_broadcast(a.shape[:-2], b.shape[:-2])
    return row_major((*batch, *a.shape[:-1][-1:], *b.shape[1:][-1:]), a.dtype)


def _gathered(source: TensorData, _: int, index: TensorData) -> Layout:
    return row_major(index.shape, source.dtype)


def _concatenated(parts: Sequence[TensorData], dim: int) -> Layout:
    shape = list(parts[0].shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    return row_major(tuple(shape), parts[0].dtype)


SHOWN: dict[str, Callable[..., Layout]] = {
    "full": _full,
    "reduce": _reduced,
    "matmul": _product,
    "gather": _gathered,
    "concatenate": _concatenated,
}
"""The layout of what each primitive returns that writes to nothing, by its arguments."""
