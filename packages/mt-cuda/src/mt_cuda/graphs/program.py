"""The calls of a compiled program, launched as one CUDA graph.

The first run is recorded: its launches become the nodes of a graph. Each run then sets what differs -
the addresses of arguments and of results, numbers such as learning rates, counters of random
numbers - and launches the graph. Temporary results are in memory of the graph. What a program
returns is in memory that nobody uses, so a run never overwrites what an earlier one has returned.

Some programs have no graph: those that copy elements between host and device, for example, or call
cuBLAS. They run as usual, and `print(step.program.calls)` says why.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mt_cuda.core.backend import CudaOps
from mt_cuda.core.errors import KernelError
from mt_cuda.core.gpu import Gpu, Memory
from mt_cuda.core.tables import SPECIAL_CASES
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
from mt_tensor.backends.extending import PLAIN, drawing, leaves_in, map_leaves

Calls = Callable[[list[Any]], list[Any]]

MOST = 16
"""The most graphs that are made of one program, one after the other."""

FAILURES = 2
"""How often a program may fail to become a graph: the first run may upload constants."""


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
                data = leaf._tensor if isinstance(leaf, Tensor) else leaf
                if isinstance(data, TensorData):
                    layout, memory = data.layout, data.storage
                    self.memories.append(memory)
                    self.key += (layout.dtype, layout.shape, layout.strides, layout.offset)
                    self.key.append(memory.borrowed)
                elif isinstance(leaf, (int, float, Generator)) and leaf is argument:
                    self.key.append(type(leaf))
                else:
                    self.key.append(_plain(leaf))

    def aliases(self, gpu: Gpu, constants: Mapping[Any, int]) -> list[Any]:
        """Return which memories share their allocation, with others or with constants."""
        first: dict[Any, int] = {}
        return [
            constants.get(owner, first.setdefault(owner, at))
            for at, owner in enumerate(_owner(gpu, memory) for memory in self.memories)
        ]


class Renewed:
    """Copies of tensors in nested tuples, with other memory.

    There is no cycle of references to it, so that the memory is freed with its last tensor.
    """

    def __init__(self, memory_of: Callable[[Memory], Memory]) -> None:
        self._memory_of = memory_of
        self._made: dict[int, TensorData] = {}

    def __call__(self, leaf: Any) -> Any:
        """Return the copy of a leaf."""
        if isinstance(leaf, Tensor):
            return Tensor._make(self(leaf._tensor), leaf.backend)
        if not isinstance(leaf, TensorData):
            return leaf
        old = leaf.storage
        if id(old) in self._made:
            return self._made[id(old)].with_layout(leaf.layout)
        new = TensorData.in_rows(self._memory_of(old), leaf.layout)
        self._made[id(old)] = new
        return new


class Output:
    """The memory of a result, in blocks of which one is kept when its last user has dropped it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: list[tuple[int, Any]] = []

    def block(self, gpu: Gpu) -> Block:
        """Return a block that nobody uses."""
        if self._kept:
            handle, buffer = self._kept.pop()
            self._kept.clear()
        else:
            memory = gpu.allocate(self._size, uint8)
            handle, buffer = memory.address, memory.owner
        return Block(handle, self._size, buffer, self._kept)


class Recorded:
    """The graph of a program for arguments with one key.

    Raises:
        Exception: the program has no graph.
    """

    def __init__(self, ops: CudaOps, gpu: Gpu, calls: Calls, given: Given) -> None:
        self._gpu, self._key, recording = gpu, given.key, Recording()
        self._notice: Notice | None = ops.state.get("notice")
        words = self._notice and self._notice.words.storage
        self._equal: list[tuple[int, int]] = []
        inputs = [Variable() for _ in given.memories]
        stand_ins = self._stand_ins(given, inputs, recording)
        self._results = _recorded(ops, gpu, recording, calls, stand_ins)
        launches = recording.launches
        if len(launches) < 2:
            raise KernelError(f"it makes {len(launches)} launches")
        self._outputs: dict[Variable, Output] = {}
        for leaf in leaves_in(self._results):
            data = leaf._tensor if isinstance(leaf, Tensor) else leaf
            if not isinstance(data, TensorData):
                _plain(leaf)
            elif not isinstance(data.storage.owner, Variable):
                raise KernelError("it returns memory that existed before")
            else:
                place = data.storage.owner
                self._outputs.setdefault(place, Output(place.size))
        self._sources = recording.sources
        self._constants = list(recording.constants.values())
        self._owners = {_owner(gpu, x): -1 - at for at, x in enumerate(self._constants)}
        self._aliases = given.aliases(gpu, self._owners)
        self._words = words if id(words) in recording.constants else None
        numbers = [x for source in self._sources for x in source.variables]
        variables = [*inputs, *self._outputs, *numbers]
        offsets, size = offsets_in_arena(launches, self._outputs)
        self._arena = gpu.allocate(size, uint8)
        values = dict.fromkeys(variables, 0)
        values.update({x: self._arena.address + offset for x, offset in offsets.items()})
        self._graph = Graph(gpu, launches, variables, values)
        self.description = f"a CUDA graph of {len(launches)} launches, with {size:,} bytes"

    def _stand_ins(self, given: Given, inputs: list[Variable], recording: Recording) -> list[Any]:
        """Return arguments with variables in place of addresses and numbers."""
        addresses: Any = dict(zip(map(id, given.memories), inputs, strict=True))
        first: dict[Any, tuple[int, UnknownNumber]] = {}
        stand_in = Renewed(lambda m: replace(m, address=addresses[id(m)]))
        result: list[Any] = []
        for at, argument in enumerate(given.arguments):
            if isinstance(argument, Generator):
                result.append(UnknownNumbers(recording, at))
            elif isinstance(argument, (int, float)):
                key = (type(argument), repr(argument))
                position, unknown = first.setdefault(key, (at, UnknownNumber(recording, at)))
                if position != at:
                    self._equal.append((position, at))
                result.append(unknown)
            else:
                result.append(map_leaves(argument, stand_in))
        return result

    def fits(self, given: Given) -> bool:
        """Return whether the launches are the same for other arguments."""
        numbers = given.arguments
        return (
            given.key == self._key
            and all(_same(numbers[a], numbers[b]) for a, b in self._equal)
            and given.aliases(self._gpu, self._owners) == self._aliases
            and (self._notice is None or self._words in (None, self._notice.words.storage))
        )

    def launch(self, given: Given) -> list[Any]:
        """Launch the graph, and return the results."""
        blocks = {x: output.block(self._gpu) for x, output in self._outputs.items()}
        values = [memory.address for memory in given.memories]
        values += [block.handle for block in blocks.values()]
        for source in self._sources:
            argument = given.arguments[source.position]
            if isinstance(argument, Generator):
                with drawing(argument) as numbers:
                    values += map(bits, source.function(numbers, *source.more))
            else:
                values.append(bits(source.function(argument, *source.more)))
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
    ops.settle()
    gpu.thread.recording = recording
    try:
        with ops.together():
            return calls(arguments)
    finally:
        try:
            ops.settle()
        finally:
            gpu.thread.recording = None


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

    def __call__(self, arguments: list[Any]) -> list[Any]:
        """Run the program; see `TensorBackend.program`."""
        with self._lock:
            results = self._launched(arguments)
        return self.calls(arguments) if results is None else results

    def _launched(self, arguments: list[Any]) -> list[Any] | None:
        """Launch the graph, and return the results; None if there is none."""
        if self._failures == FAILURES:
            return None
        try:
            given = Given(arguments)
            if self._recorded is None or not self._recorded.fits(given):
                self._recorded = None  # frees its memory
                if self._recordings == MOST:
                    raise KernelError("its arguments share memory in another way at each call")
                self._recordings += 1
                self._recorded = Recorded(self._ops, self._gpu, self.calls, given)
        except Exception as error:  # noqa: BLE001 - an error of the program occurs again
            self._failures += 1
            self.reason = str(error) or type(error).__name__
            return None
        arguments.clear()
        self._ops.settle()
        try:
            return self._recorded.launch(given)
        except BaseException:
            self._recorded = None  # its state is unknown
            raise

    def __repr__(self) -> str:
        """Say whether there is a graph, and if not, why."""
        graph = self._recorded
        return graph.description if graph else f"separate launches: {self.reason}"


def _owner(gpu: Gpu, memory: Memory) -> Any:
    """Return what is equal for memories that share an allocation of ours."""
    return gpu.identity(memory) or id(memory)


def _plain(leaf: Any) -> Any:
    """Return a constant.

    Raises:
        KernelError: it may differ at each run.
    """
    if not isinstance(leaf, PLAIN):
        raise KernelError(f"it passes on a value of type {type(leaf).__name__}")
    return leaf


def _same(a: float, b: float) -> bool:
    """Whether two numbers are equal; 0.0 and -0.0 are not."""
    return a == b and (a != 0 or repr(a) == repr(b))


def program(ops: CudaOps, calls: Calls) -> Calls | None:
    """Return the calls as a graph; None if the machine is no GPU."""
    return ProgramGraph(ops, ops.machine, calls) if isinstance(ops.machine, Gpu) else None


SPECIAL_CASES["program"] = program
