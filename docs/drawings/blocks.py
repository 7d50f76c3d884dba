"""A block of threads at work: what it reads and writes from barrier to barrier.

The simulator of mt-cuda runs a kernel, and every access to an array is recorded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drawings.picture import COLOURS, INK, MUTED, RULE, Picture, Steps, element, svg, text
from mt_cuda import Simulator
from mt_cuda.core.simulator import Cuda, Memory, Program
from mt_cuda.course import block_sums
from mt_cuda.extending import Kernel
from mt_tensor import float32

SHARED = re.compile(r"(\w+) = cuda\.shared\.array")


@dataclass(frozen=True)
class Access:
    """An access of a thread to an element.

    Attributes:
        block: the number of the block.
        phase: the number of barriers that the block has passed.
        thread: the number of the thread in its block.
        array: the name of the array.
        at: the index of the element.
        value: the value that is read or written.
        writes: whether it is a write.
        shared: whether the array is in shared memory.
    """

    block: int
    phase: int
    thread: int
    array: str
    at: Any
    value: float
    writes: bool
    shared: bool


def record(kernel: Kernel, blocks: int, threads: int, *arguments: Any) -> list[Access]:
    """Run a kernel on the simulator, and return every access of its threads to an array.

    Args:
        kernel: the kernel.
        blocks: the number of blocks.
        threads: the number of threads in each block.
        arguments: the arguments of the kernel; arrays are copied to the device.
    """
    gpu, program = Simulator(), Recorded(kernel)
    memory = [gpu.upload(x) if isinstance(x, np.ndarray) else x for x in arguments]
    gpu.launch(program, (blocks, 1), threads, (), memory)
    return program.accesses


class _Watched:
    """An array that records accesses."""

    def __init__(self, name: str, array: Any, cuda: Cuda, accesses: list[Access]) -> None:
        self.name, self.array, self.cuda, self.accesses = name, array, cuda, accesses

    def __getitem__(self, at: Any) -> Any:
        value = self.array[at]
        self._add(at, value, False)
        return value

    def __setitem__(self, at: Any, value: Any) -> None:
        self.array[at] = value
        self._add(at, value, True)

    def _add(self, at: Any, value: Any, writes: bool) -> None:
        cuda, shared = self.cuda, not isinstance(self.array, Memory)
        place = (cuda.blockIdx.x, cuda.phase, cuda.threadIdx.x)
        self.accesses.append(Access(*place, self.name, at, float(value), writes, shared))


class Recorded(Program):
    """A kernel that records its accesses.

    Attributes:
        accesses: the accesses so far.
        shapes: the shapes of its arrays in shared memory, by name.
    """

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.accesses: list[Access] = []
        self.shapes: dict[str, Any] = {}
        self._shared = SHARED.findall(kernel.source)

    def bind(self, cuda: Cuda) -> Callable[..., Any]:
        """Return the function that the threads of one block run."""
        names = [parameter.name for parameter in self.kernel.parameters]
        make, watched = cuda.shared.array, dict[int, _Watched]()

        def shared(shape: Any, dtype: Any) -> _Watched:
            array = make(shape, dtype)
            if id(array) not in watched:
                name = self._shared[len(watched)]
                watched[id(array)] = _Watched(name, array, cuda, self.accesses)
                self.shapes[name] = shape
            return watched[id(array)]

        cuda.shared.array = shared
        function = super().bind(cuda)

        def run(*arguments: Any) -> Any:
            return function(
                *(
                    _Watched(name, x, cuda, self.accesses) if isinstance(x, Memory) else x
                    for name, x in zip(names, arguments, strict=True)
                )
            )

        return run


# --- A sum ----------------------------------------------------------------------------------------


def tree_steps(values: Sequence[float]) -> Steps:
    """Draw how a block adds up numbers in shared memory, one picture for each barrier."""
    count = len(values)
    kernel, x = block_sums(float32, count), np.array(values, np.float32)
    accesses = record(kernel, 1, count, count, 1, x, 0, np.zeros(1, np.float32), 0)
    shared = [access for access in accesses if access.shared]
    levels: list[dict[int, float]] = []
    sources: list[dict[int, list[int]]] = []
    for phase in range(max(access.phase for access in shared) + 1):
        now = [access for access in shared if access.phase == phase]
        writes = {access.at: access.value for access in now if access.writes}
        if not writes:
            continue
        reads: dict[int, list[int]] = {at: [] for at in writes}
        for access in now:
            if not access.writes and access.thread in reads:
                reads[access.thread].append(access.at)
        levels.append(writes)
        sources.append(reads)
    return Steps(
        (_sum_caption(levels, step), _tree(levels[: step + 1], sources, count))
        for step in range(len(levels))
    )


def _sum_caption(levels: list[dict[int, float]], step: int) -> str:
    """Describe a step of a sum."""
    if step == 0:
        return f"Each of {len(levels[0])} threads copies one element to shared memory."
    adding = len(levels[step])
    names = {1: "Thread 0 adds", 2: "Threads 0 and 1 add"}
    does = names.get(adding, f"Threads 0 to {adding - 1} add")
    own = "its" if adding == 1 else "their"
    end = "" if step < len(levels) - 1 else f" The sum is {levels[-1][0]:g}."
    return f"{does} a second element to {own} own.{end}"


def _tree(
    levels: list[dict[int, float]], sources: list[dict[int, list[int]]], count: int
) -> Picture:
    """Draw shared memory after each of some phases, one below the other."""
    side, drop, left, top = 66.0, 74.0, 8.0, 30.0
    parts = []
    for thread in range(count):
        middle = left + (thread + 0.5) * side
        parts.append(text(middle, 16.0, f"thread {thread}", "middle", MUTED))
    values: dict[int, float] = {}
    for row, written in enumerate(levels):
        y = top + row * drop
        values = {**values, **written}
        for at in sources[row]:
            for place in sources[row][at] if row else ():
                x1, x2 = left + (place + 0.5) * side, left + (at + 0.5) * side
                line = f"stroke: {COLOURS[0]}; stroke-width: 2"
                start, end = y - drop + 36.0, y - 1.0
                parts.append(element("line", x1=x1, y1=start, x2=x2, y2=end, style=line))
        for at, value in values.items():
            fresh = at in written
            x = left + at * side + 5.0
            colour = INK if fresh else RULE
            frame = f"fill: none; stroke: {colour}; stroke-width: {1.5 if fresh else 1}"
            parts.append(element("rect", x=x, y=y, width=side - 10, height=34, style=frame))
            ink = INK if fresh else MUTED
            parts.append(text(x + side / 2 - 5.0, y + 22.0, f"{value:g}", "middle", ink))
    for row in range(len(levels), len(sources)):  # the phases to come
        for at in range(count):
            x, y = left + at * side + 5.0, top + row * drop
            frame = f"fill: none; stroke: {RULE}; stroke-dasharray: 3 3"
            parts.append(element("rect", x=x, y=y, width=side - 10, height=34, style=frame))
    height = top + (len(sources) - 1) * drop + 44.0
    shown = ", ".join(f"{value:g}" for value in levels[-1].values())
    return Picture(svg(2 * left + count * side, height, *parts), f"New in shared memory: {shown}.")


# --- A product ------------------------------------------------------------------------------------

CELL, GAP = 22.0, 26.0


def tile_steps(
    accesses: Sequence[Access], rows: int, inner: int, columns: int, block: int = 0
) -> Steps:
    """Draw how a block computes a tile of `out = a @ b`, one picture for each barrier.

    Args:
        accesses: those of a kernel whose arrays are called a, b and out, all of them row-major.
        rows: the number of rows of a.
        inner: the number of columns of a.
        columns: the number of columns of b.
        block: the number of the block to draw.
    """
    mine = [access for access in accesses if access.block == block]
    widths = {"a": inner, "b": columns, "out": columns}
    tile = {divmod(x.at, columns) for x in mine if x.array == "out" and x.writes}
    pictures = []
    here: dict[str, set[tuple[int, int]]] = {"a": set(), "b": set()}
    for phase in range(max(access.phase for access in mine) + 1):
        now = [access for access in mine if access.phase == phase]
        for name in ("a", "b"):
            found = {divmod(x.at, widths[name]) for x in now if x.array == name}
            here[name] = found or here[name]
        loads = any(access.array in here for access in now)
        stores = any(access.array == "out" for access in now)
        caption = _tile_caption(now, loads, stores)
        picture = _tiles(here, tile, (rows, inner, columns), loads, stores, caption)
        pictures.append((caption, picture))
    return Steps(pictures)


def _tile_caption(now: Sequence[Access], loads: bool, stores: bool) -> str:
    """Describe what the threads of a block do between two barriers."""
    counts = Counter((access.shared, access.writes) for access in now)
    if loads:
        return f"Load: {counts[False, False]} elements are read from global memory."
    if stores:
        return f"Store: {counts[False, True]} elements of the result are written."
    return f"Multiply: {counts[True, False]} reads of shared memory."


def _tiles(
    here: dict[str, set[tuple[int, int]]],
    tile: set[tuple[int, int]],
    sizes: tuple[int, int, int],
    loads: bool,
    stores: bool,
    alt: str,
) -> Picture:
    """Draw b above the result, and a to its left."""
    rows, inner, columns = sizes
    left, top = 8.0 + inner * CELL + GAP, 24.0 + inner * CELL + GAP
    corners = {"a": (8.0, top), "b": (left, 24.0), "out": (left, top)}
    shapes = {"a": (rows, inner), "b": (inner, columns), "out": (rows, columns)}
    parts = []
    for name, (x, y) in corners.items():
        marked = tile if name == "out" else here[name]
        colour = COLOURS[1] if (stores if name == "out" else loads) else COLOURS[0]
        for row in range(shapes[name][0]):
            for column in range(shapes[name][1]):
                fill = colour if (row, column) in marked else "none"
                faint = 0.25 if name == "out" and not stores else 0.65
                style = f"fill: {fill}; fill-opacity: {faint}; stroke: {RULE}"
                at, down = x + column * CELL, y + row * CELL
                size = f"{CELL:g}"
                parts.append(element("rect", x=at, y=down, width=size, height=size, style=style))
        below = y + rows * CELL + 18.0
        parts.append(text(x, below if name == "out" else y - 7.0, name, "start"))
    return Picture(svg(left + columns * CELL + 8.0, top + rows * CELL + 26.0, *parts), alt)
