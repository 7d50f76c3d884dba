"""The calls of a compiled program, launched as one CUDA graph.

The first run is recorded: its launches become the nodes of a graph. Each run then sets what
differs: the addresses of arguments and results, numbers such as learning rates, and counters of
random numbers. Temporary results are in memory of the graph. Results are returned in memory that
is not in use, so a run never overwrites the results of an earlier one.

Some programs have no graph: those that copy elements between host and device, for example, or call
cuBLAS. They run as usual, and `print(step.program.calls)` says why.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakValueDictionary

from mt_cuda.core.backend import CudaOps
from mt_cuda.core.errors import KernelError
from mt_cuda.core.gpu import Gpu, Memory
from mt_cuda.core.tables import GPU, SPECIAL_CASES
from mt_cuda.graphs.graph import Graph, bits
from mt_cuda.graphs.recording import (
    Recording,
    UnknownNumber,
    UnknownNumbers,
    Variable,
    offsets_in_arena,
)
from mt_cuda.indexing.checks import Notice
from mt_cuda.memory.reuse import Block
from mt_tensor import Generator, Tensor, TensorData, uint8
from mt_tensor.backends.extending import PLAIN, leaves_in, map_leaves

Calls = Callable[[list[Any]], list[Any]]

MOST = 16
"""The maximum number of graphs that are recorded for one program, one after the other."""

FAILURES = 2
"""The number of failed recordings after which a program is not recorded again; the first run may
fail because it uploads constants."""


class Given:
    """The arguments of a run.

    Attributes:
        arguments: the arguments.
        memories: the memory of each tensor in them.
        key: equal for arguments that differ only in memory and numbers.
    """

    def __init__(self, arguments: list[Any]) -> None:
        self.arguments = list(arguments)
        self.memories: list[Memory] = []
        self.key: list[Any] = []
        for argument in arguments:
            for leaf in leaves_in(argument) if isinstance(argument, tuple) else (argument,):
                data = _elements(leaf)
                if isinstance(data, TensorData):
                    layout = data.layout
                    self.memories.append(data.storage)
                    self.key += (layout.dtype, layout.shape, layout.strides, layout.offset)
                else:
                    self.key.append(type(leaf) if leaf is argument else leaf)


class Renewed:
    """A function that copies tensors in nested tuples, with their memory replaced.

    It is not part of a reference cycle, so that the memory is freed with its last tensor.

    Args:
        memory_of: a function that returns the replacement of a memory.
    """

    def __init__(self, memory_of: Callable[[Any], Memory]) -> None:
        self._memory_of = memory_of
        self._made: dict[int, TensorData] = {}

    def __call__(self, leaf: Any) -> Any:
        """Return the copy of a leaf; return a leaf that is not a tensor unchanged."""
        if isinstance(leaf, Tensor):
            return Tensor._make(self(leaf._tensor), leaf.backend)
        if not isinstance(leaf, TensorData):
            return leaf
        old = leaf.storage
        if id(old) in self._made:
            return self._made[id(old)].with_layout(leaf.layout)
        new = self._made[id(old)] = TensorData.of_storage(self._memory_of(old), leaf.layout)
        return new


class Output:
    """The memory of a result; one block is cached when its last user has dropped it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: list[tuple[int, Any]] = []

    def block(self, gpu: Gpu) -> Block:
        """Return a block that is not in use."""
        if not self._kept:
            memory = gpu.allocate(self._size, uint8)
            self._kept.append((memory.address, memory.owner))
        handle, buffer = self._kept.pop()
        self._kept.clear()
        return Block(handle, self._size, buffer, self._kept)


class Recorded:
    """The graph of a program, for arguments with one key.

    Raises:
        KernelError: the program cannot be recorded. Other exceptions mean the same.
    """

    def __init__(self, ops: CudaOps, gpu: Gpu, calls: Calls, given: Given) -> None:
        self._gpu, self._key, recording = gpu, given.key, Recording()
        self._notice: Notice | None = ops.state.get("notice")
        words = self._notice and self._notice.words.storage
        inputs: list[Any] = [Variable() for _ in given.memories]
        arguments = self._stand_ins(given, iter(inputs), recording)
        self._results = _recorded(ops, gpu, recording, calls, arguments)
        if len(recording.launches) < 2:
            raise KernelError("it launches one kernel at most")
        self._outputs: dict[Any, Output] = {}
        for data in map(_elements, leaves_in(self._results)):
            if isinstance(data, TensorData):
                owner = data.storage.owner
                if not isinstance(owner, Variable):
                    raise KernelError("it returns memory that existed before")
                self._outputs.setdefault(owner, Output(owner.size))
        self._constants, self._sources = recording.constants, recording.sources
        self._words = words if id(words) in self._constants else None
        numbers = [x for source in self._sources for x in source.variables]
        variables = [*inputs, *self._outputs, *numbers]
        offsets, size = offsets_in_arena(recording.launches, self._outputs)
        self._arena = gpu.allocate(size, uint8)
        fixed = {x: self._arena.address + offset for x, offset in offsets.items()}
        self._graph = Graph(gpu, recording.launches, variables, fixed)
        self.description = f"a CUDA graph of {len(recording.launches)} launches, {size:,} bytes"

    def _stand_ins(self, given: Given, addresses: Iterator[Any], recording: Recording) -> list[Any]:
        """Return arguments with variables in place of addresses and numbers.

        Memory is marked as borrowed, since arguments may share memory in another run: calls that
        use it are not launched together. Equal numbers get one placeholder, so that other calls
        can be.
        """

        def memory(like: Memory) -> Memory:
            return Memory(next(addresses), like.count, like.dtype, None, borrowed=True)

        def stand_in(leaf: Any) -> Any:
            return Renewed(memory)(leaf)  # each leaf has its own address

        numbers: dict[Any, UnknownNumber] = {}
        self._equal: list[tuple[int, int]] = []
        result: list[Any] = []
        for at, x in enumerate(given.arguments):
            if isinstance(x, Generator):
                result.append(UnknownNumbers(recording.sources, at))
            elif isinstance(x, (int, float)):
                unknown = UnknownNumber(recording.sources, at)
                result.append(numbers.setdefault((type(x), repr(x)), unknown))
                self._equal.append((result[-1].position, at))
            else:
                result.append(map_leaves(x, stand_in))
        return result

    def fits(self, given: Given) -> bool:
        """Return whether the launches are the same for other arguments."""
        numbers = given.arguments
        return (
            given.key == self._key
            and all(_same(numbers[a], numbers[b]) for a, b in self._equal)
            and (self._notice is None or self._words in (None, self._notice.words.storage))
        )

    def launch(self, given: Given) -> list[Any]:
        """Launch the graph, and return the results."""
        blocks = {x: output.block(self._gpu) for x, output in self._outputs.items()}
        values = [memory.address for memory in given.memories]
        values += [block.handle for block in blocks.values()]
        for position, function, more, variables in self._sources:
            found = function(given.arguments[position], *more)
            values += map(bits, found if len(variables) > 1 else (found,))
        self._graph.launch(values)
        if self._notice is not None and self._words is not None:
            self._notice.pending = True
        result = Renewed(
            lambda m: Memory(blocks[m.owner].handle, m.count, m.dtype, blocks[m.owner])
        )
        return [map_leaves(each, result) for each in self._results]


def _recorded(
    ops: CudaOps, gpu: Gpu, recording: Recording, calls: Calls, arguments: list[Any]
) -> list[Any]:
    """Record calls, and return their results."""
    queue, ops.thread.queue = ops.thread.queue, None
    gpu.thread.recording = recording
    try:
        with ops.batch_calls():
            return calls(arguments)
    finally:
        gpu.thread.recording, ops.thread.queue = None, queue


class ProgramGraph:
    """The calls of a program, launched as a graph if possible.

    Attributes:
        calls: the calls one by one.
        reason: why there is no graph, if there is none.
    """

    def __init__(self, ops: CudaOps, gpu: Gpu, calls: Calls) -> None:
        self.calls = calls
        self.reason = "it has not run yet"
        self._ops, self._gpu = ops, gpu
        self._lock = threading.RLock()
        self._recorded: Recorded | None = None
        self._recordings = self._failures = 0
        _GRAPHS[id(self)] = self

    def __call__(self, arguments: list[Any]) -> list[Any]:
        """Run the program; see `TensorBackend.program`."""
        with self._lock:
            results = self._launched(arguments)
        return self.calls(arguments) if results is None else results

    def _launched(self, arguments: list[Any]) -> list[Any] | None:
        """Launch the graph, and return the results; None if there is no graph."""
        if self._failures == FAILURES:
            return None
        try:
            given, recorded = Given(arguments), self._recorded
            if recorded is None or not recorded.fits(given):
                self._recorded = recorded = None  # frees its memory
                if self._recordings == MOST:
                    raise KernelError(f"arguments changed too often: it was recorded {MOST} times")
                self._recordings += 1
                recorded = Recorded(self._ops, self._gpu, self.calls, given)
        except Exception as error:  # noqa: BLE001 - an error of the program occurs again
            self._failures += 1
            self.reason = str(error) or type(error).__name__
            return None
        arguments.clear()
        self._ops.settle()
        self._recorded = None  # its state is unknown after an error
        results = recorded.launch(given)
        self._recorded = recorded
        return results

    def release(self) -> None:
        """Free the memory of the graph; the next run records it again."""
        self._recorded, self.reason = None, "its memory was needed"

    def __repr__(self) -> str:
        """Describe the graph, or why there is none."""
        graph = self._recorded
        return graph.description if graph else f"separate launches: {self.reason}"


def _elements(leaf: Any) -> Any:
    """Return the elements of a tensor, and any other value unchanged.

    Raises:
        KernelError: the value has a mutable type.
    """
    data = leaf._tensor if isinstance(leaf, Tensor) else leaf
    if not isinstance(data, (TensorData, Generator, *PLAIN)):
        raise KernelError(f"it takes or returns a value of type {type(data).__name__}")
    return data


def _same(a: float, b: float) -> bool:
    """Return whether two numbers are equal; nan equals nan, and 0.0 differs from -0.0."""
    return a == b != 0 or repr(a) == repr(b)


def program(ops: CudaOps, calls: Calls) -> Calls | None:
    """Return the calls as a graph; None if the machine is not a GPU."""
    return ProgramGraph(ops, ops.machine, calls) if isinstance(ops.machine, Gpu) else None


def release_graphs(_: Gpu) -> None:
    """Free the memory of all graphs."""
    for reference in _GRAPHS.valuerefs():  # a list, while other threads may add graphs
        graph = reference()
        if graph is not None:
            graph.release()


_GRAPHS: WeakValueDictionary[int, ProgramGraph] = WeakValueDictionary()

SPECIAL_CASES["program"] = program
GPU["release"] = release_graphs
