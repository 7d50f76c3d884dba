"""Gradients of what a program has returned: a second program, from gradients to gradients.

If a result wants a gradient, the backward of each result is recorded right after the function.
It reads what the forward has saved, which the first program then returns beside its results.
"""

from __future__ import annotations

from typing import Any

from mt_autodiff import AutodiffError, GradientError, GraphFreedError, derivatives
from mt_autodiff.core.mode import recording
from mt_tensor.core.graph import Node, record
from mt_tensor.core.layout import row_major
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import CompileError, TensorError
from mt_tensor.programs.code_writer import CodeWriter
from mt_tensor.programs.effects import NotReplayable
from mt_tensor.programs.optimization import optimize
from mt_tensor.programs.program import Buffer, Opaque, Program, View
from mt_tensor.programs.pytree import leaves_in
from mt_tensor.programs.recorder import Recorder
from mt_tensor.programs.tensor_paths import TensorPaths
from mt_tensor.recording.functions import elements_of
from mt_tensor.tape import capturing


class ProgramRule:
    """How gradients flow through a program: another program computes them; see `Rule`."""

    def __init__(self, run: Any) -> None:
        self.run = run

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Tensor, needed: Any) -> list[Any]:
        """Return the gradients of the inputs.

        Raises:
            GraphFreedError: a backward within the program has freed the graph.
            GradientError: the gradient is to be differentiated in turn.
        """
        if self.run is None:
            raise node.freed()
        if recording.get():
            raise GradientError(
                f"the gradient of {node.name!r}, which is compiled, is not recorded: compile the "
                "function that differentiates it twice."
            )
        data = grad._tensor
        if data.layout.contiguous is not data.layout:
            data = node.backend.copy(data, data.layout.contiguous)
        gradients: list[Any] = self.run([data, *ctx], None)[0]
        return gradients


class BoundaryRule:
    """How gradients leave a program towards what an argument was computed from; see `Rule`."""

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Tensor, needed: Any) -> list[Any]:
        """Return the gradient itself.

        Raises:
            CompileError: the function that is captured calls `backward()` itself.
        """
        recorder = capturing()
        if isinstance(recorder, Recorder):
            raise CompileError(
                f"backward() in {recorder.name} goes on to what an argument was computed from, "
                "which no program knows: pass detach() of it, or compile what computes it, too."
            )
        return [grad]


def behind_boundary(x: Tensor) -> Tensor:
    """Return an argument that was computed before, for a function that is recorded."""
    inside = Tensor._make(x._tensor, x.backend)
    record(inside, BoundaryRule(), "argument", (x.variable,))
    return inside


class Gradients:
    """Programs of the gradients of results.

    Attributes:
        saved: views and boxes of the forward that they read.
        programs: for the position of a result, the function that runs its gradient; None if the
            graph was freed.
    """

    def __init__(self, name: str, inputs: list[Any], positions: list[int | None]) -> None:
        self.name = name
        self.inputs = inputs
        self.positions = positions
        self.saved: list[Any] = []
        self.programs: dict[int, Any] = {}

    def connect(self, results: list[Any], parts: list[Any], given: Any) -> None:
        """Enter results into the graph."""
        for at, run in self.programs.items():
            inputs = [
                tensor if position is None else given.leaves[position].variable
                for tensor, position in zip(self.inputs, self.positions, strict=True)
            ]
            record(results[at], ProgramRule(run), self.name, inputs, parts, _elements(parts))


def _elements(parts: list[Any]) -> list[TensorData]:
    """Return the elements in what was saved, also what a kernel has saved for its gradient."""
    found = elements_of(parts)
    for part in parts:
        if isinstance(part, tuple):  # of `FusedKernel.value`; a detached tensor shares its version
            found += elements_of([x.detach() if isinstance(x, Tensor) else x for x in part])
    return found


def record_gradients(
    name: str, taken: list[Any], result: Any, recorder: Recorder, locations: TensorPaths
) -> Gradients | None:
    """Write the gradients of results down; return None if none is wanted.

    Args:
        name: the function's.
        taken: what it was given.
        result: what it returned.
        recorder: what it asked of backends.
        locations: where tensors are that were there before.

    Raises:
        NotReplayable: one of them cannot be computed, which the caller need not want to.
    """
    results = [
        (at, leaf)
        for at, leaf in enumerate(leaves_in(result))
        if isinstance(leaf, Tensor)
        and leaf.requires_grad  # which brings a view up to date with what has become of its base
        and leaf._node is not None
        and not locations.existed(leaf)
    ]
    if not results:
        return None
    wanted: dict[Any, int | None] = {}
    for placeholder in taken:
        if isinstance(placeholder, Tensor) and placeholder.requires_grad:
            wanted[placeholder.variable] = locations.positions[id(placeholder)]
    for tensor, slots in locations.snapshot.tensors.values():
        if slots[2] and slots[3] is None and tensor not in wanted:
            wanted[tensor] = None
    variables = list(wanted)
    gradients = Gradients(name, variables, list(wanted.values()))
    saved: dict[Any, Any] = {}
    recorded = []
    for at, leaf in results:
        try:
            recorded.append((at, *_one(recorder, leaf, dict.fromkeys(variables), name)))
        except GraphFreedError:  # by a backward() within
            gradients.programs[at] = None
        except CompileError:
            raise
        except (AutodiffError, TensorError) as error:
            raise NotReplayable(
                f"the gradient of what it returns cannot be computed: {error}"
            ) from error
    for _, program, boxes, seed in recorded:
        saved |= {id(view.buffer): view for view in _read(program, seed)}
        saved |= {id(box): box for box in boxes}
    gradients.saved = list(saved.values())
    for at, program, _, seed in recorded:
        gradients.programs[at] = _function(program, seed, gradients.saved)
    return gradients


def _one(
    recorder: Recorder, result: Tensor, places: dict[Any, Any], name: str
) -> tuple[Program, list[Opaque], Buffer]:
    """Write the gradient of one result down; return the program, and what it reads."""
    backend = result.backend
    ones = backend.full(result.shape, result.dtype, 1)
    ones = backend.copy(ones, row_major(ones.shape, ones.dtype))
    own = Recorder(f"gradient of {name}", recorder.numbers)
    own.buffers = recorder.buffers
    seed = own.buffers.buffer(ones, False)
    before = recording.set(False)
    try:
        with own:
            found = derivatives(result.variable, Tensor._make(ones, backend), True, places)
            found = {leaf: share for leaf, share in found.items() if leaf in places}
            shares = [
                None if share is None else (share._whole() if share._fresh is None else share)
                for share in map(found.get, places)
            ]
            shares = [
                share if share is None or share.dtype is leaf.dtype else share.to(leaf.dtype)
                for leaf, share in zip(places, shares, strict=True)
            ]
    finally:
        recording.reset(before)
    marks = [None if share is None else own.as_operands(share) for share in shares]
    kept = [mark.view for mark in marks if mark is not None]
    program = Program(own.name, own.instructions, marks, kept)
    produced = {box for each in program.instructions for box in each.produced}
    boxes = [box for each in program.instructions for box in each.consumed if box not in produced]
    return program, boxes, seed


def _read(program: Program, seed: Buffer) -> list[View]:
    """Return views of what a gradient reads of the forward."""
    calls = program.instructions
    made = {id(view.buffer) for each in calls for view in each.makes}
    read = {view.buffer for each in calls for view in (*each.reads, *each.changes)} - {seed}
    return [View(memory, memory.layout) for memory in read if id(memory) not in made]


def _function(program: Program, seed: Buffer, saved: list[Any]) -> Any:
    """Return the function that runs a gradient, of the seed's elements and what was saved."""
    optimize(program)
    source = CodeWriter()
    source.load(seed, "a[0]")
    for at, each in enumerate(saved, 1):
        if isinstance(each, View):
            source.load(each.buffer, f"a[{at}]")
        else:
            source.assign(each, f"a[{at}]")
    source.instructions(program)
    texts = ["None" if mark is None else source.new_tensor(mark) for mark in program.results]
    source.lines.append(f"return [{', '.join(texts)}], None")
    return source.function()
