"""Gradients of a compiled function: a second program for each result that requires a gradient.

The backward pass of each result is recorded right after the function. It reads buffers of the
forward program, which therefore returns them as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_autodiff import AutodiffError, GradientError, GraphFreedError, derivatives
from mt_autodiff.core.mode import recording
from mt_tensor.core.graph import Node, record
from mt_tensor.core.layout import row_major
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import CompileError, TensorError
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.code_writer import CodeWriter
from mt_tensor.programs.optimization import optimize
from mt_tensor.programs.program import Opaque, Program, View, views_of
from mt_tensor.programs.pytree import leaves_in
from mt_tensor.programs.recorder import Recorder
from mt_tensor.programs.replay_writer import NotReplayable, ReplayWriter
from mt_tensor.recording.functions import elements_of
from mt_tensor.tape import capturing


class ProgramRule:
    """The gradient of a program, which another program computes; see `Rule`."""

    def __init__(self, run: Any) -> None:
        self.run = run

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Tensor, needed: Any) -> list[Any]:
        """Return the gradients of the inputs.

        Raises:
            GraphFreedError: a backward within the function has freed the graph.
            GradientError: the gradient is recorded (`create_graph`), which is not supported.
        """
        if self.run is None:
            raise node.freed()
        if recording.get():
            raise GradientError(
                f"the gradient of {node.name!r}, which is compiled, cannot be differentiated: "
                "compile the function that differentiates twice."
            )
        data = grad._tensor
        if data.layout.contiguous is not data.layout:
            data = node.backend.copy(data, data.layout.contiguous)
        gradients: list[Any] = self.run([data, *ctx], None)
        return gradients


class BoundaryRule:
    """The gradient of an argument, which passes it on to its graph; see `Rule`."""

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Tensor, needed: Any) -> list[Any]:
        """Return the gradient itself.

        Raises:
            CompileError: the function that is recorded calls `backward()` itself.
        """
        recorder = capturing()
        if isinstance(recorder, Recorder):
            raise CompileError(
                f"backward() in {recorder.name} would continue into the graph of an argument, "
                "which is outside of the program: pass x.detach(), or compile its computation, too."
            )
        return [grad]


def boundary_of(x: Tensor) -> Any:
    """Return a node for an argument that has a graph, while a function of it is recorded."""
    argument = Tensor._make(x._tensor, x.backend)
    record(argument, BoundaryRule(), "argument", (x.variable,))
    return argument._node


class Gradients:
    """The gradient programs of the results of a function.

    Attributes:
        name: the name of the function.
        inputs: the tensors to differentiate with respect to, with their positions among the
            arguments; None for other leaves.
        saved: the views and opaque values of the forward program that gradients read.
        runs: the function that runs the gradient of each result, by the position of the result;
            None if the graph was freed.
    """

    def __init__(self, name: str, inputs: dict[Any, int | None]) -> None:
        self.name = name
        self.inputs = inputs
        self.saved: list[Any] = []
        self.runs: dict[int, Any] = {}

    def connect(self, results: list[Any], saved: list[Any], given: Arguments) -> None:
        """Add results of a replay to the graph."""
        inputs = [
            tensor if position is None else given.leaves[position].variable
            for tensor, position in self.inputs.items()
        ]
        for at, run in self.runs.items():
            record(results[at], ProgramRule(run), self.name, inputs, saved, _elements(saved))


def _elements(saved: list[Any]) -> list[TensorData]:
    """Return the elements in saved values, including those that a kernel has saved."""
    found = elements_of(saved)
    for value in saved:
        if isinstance(value, tuple):  # of `FusedKernel.value`; a detached tensor shares its version
            found += elements_of([x.detach() if isinstance(x, Tensor) else x for x in value])
    return found


def record_gradients(
    code: ReplayWriter, variables: dict[Any, int], result: Any
) -> Gradients | None:
    """Record the gradients of the results of a function; return None if none is required.

    Args:
        code: the code of the replay.
        variables: the positions of the arguments that require a gradient, by their vertices.
        result: the result of the function.

    Raises:
        NotReplayable: a gradient cannot be computed, which may not matter to the caller.
    """
    results = [
        (at, leaf)
        for at, leaf in enumerate(leaves_in(result))
        if isinstance(leaf, Tensor)
        and leaf.requires_grad  # which also updates a view after a change of its base
        and leaf._node is not None
        and not code.existed(leaf)
    ]
    if not results:
        return None
    inputs: dict[Any, int | None] = {**variables}
    for tensor, (_, _, requires_grad, node, *_) in code.snapshot.tensors.values():
        if requires_grad and node is None:
            inputs.setdefault(tensor)
    gradients = Gradients(code.recorder.name, inputs)
    programs = {}
    for at, leaf in results:
        try:
            programs[at] = _backward(code.recorder, leaf, list(inputs))
        except GraphFreedError:  # by a backward() in the function
            gradients.runs[at] = None
        except CompileError:
            raise
        except (AutodiffError, TensorError) as error:
            reason = f"the gradient of a result cannot be computed: {error}"
            raise NotReplayable(reason) from error
    read = [each for program, seed in programs.values() for each in program.inputs if each != seed]
    gradients.saved = list(dict.fromkeys(read))
    for at, (program, seed) in programs.items():
        gradients.runs[at] = _compiled(program, [seed, *gradients.saved])
    return gradients


def _backward(recorder: Recorder, result: Tensor, inputs: Sequence[Any]) -> tuple[Program, View]:
    """Record the backward pass of a result; return the program, and its upstream gradient."""
    backend = result.backend
    ones = backend.full(result.shape, result.dtype, 1)
    ones = backend.copy(ones, row_major(ones.shape, ones.dtype))
    backward = Recorder(f"gradient of {recorder.name}", recorder.numbers, recorder.buffers)
    seed = backward.view(ones)
    wanted_inputs = dict.fromkeys(inputs)
    before = recording.set(False)
    try:
        with backward:
            found = derivatives(result.variable, Tensor._make(ones, backend), True, wanted_inputs)
            gradients: list[Any] = []
            for tensor in inputs:
                gradient = found.get(tensor)
                if gradient is not None and gradient._owned is None:
                    gradient = gradient._dense()
                if gradient is not None and gradient.dtype is not tensor.dtype:
                    gradient = gradient.to(tensor.dtype)
                gradients.append(gradient)
    finally:
        recording.reset(before)
    results = backward.as_operands(gradients)
    return Program(backward.name, backward.instructions, results, views_of(results)), seed


def _compiled(program: Program, inputs: Sequence[View | Opaque]) -> Any:
    """Return the function that runs a program, of a list of its inputs."""
    optimize(program)
    code = CodeWriter()
    for at, each in enumerate(inputs):
        code.bind(each, f"a[{at}]")
    code.instructions(program)
    gradients = ["None" if each is None else code.new_tensor(each) for each in program.results]
    code.lines.append(f"return [{', '.join(gradients)}]")
    return code.function()
