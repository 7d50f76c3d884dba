"""Random functions, compared with their compiled and deferred execution.

A function runs instructions of `instructions.py`: views, new tensors, in-place changes. It returns
the tensors that no later instruction uses, and some of the others. The rest are intermediate
results, which may be fused, and whose buffers may be reused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.conformance.instructions import LARGEST, Draw, Instruction, drawn_call, some_arrays
from mt_tensor.core.dtypes import Array
from mt_tensor.core.strides import overlaps
from mt_tensor.errors import CompileError, InPlaceError
from mt_tensor.programs import fusion, memory_planning
from mt_tensor.programs.compiling import Compiled

EVERY = 4
"""Every fourth tensor is a result even if later instructions use it."""


@contextmanager
def small_as_large() -> Iterator[None]:
    """Optimize small tensors in the same way as large ones."""
    before = memory_planning.MIN_SIZE, fusion.MIN_SIZE
    memory_planning.MIN_SIZE = fusion.MIN_SIZE = 1
    try:
        yield
    finally:
        memory_planning.MIN_SIZE, fusion.MIN_SIZE = before


@dataclass
class Function:
    """A function of tensors that runs instructions.

    Attributes:
        steps: the instructions, each with the indices of its tensors, the other arguments, and
            whether a graph is recorded.
        taken: the number of instructions that use each tensor.
    """

    steps: list[tuple[Instruction, list[int], Any, bool]] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)

    def __call__(self, *arguments: mt.Tensor) -> list[mt.Tensor]:
        """Run the instructions and return the results."""
        alive = list(arguments)
        for instruction, chosen, settings, recorded in self.steps:
            with nullcontext() if recorded else mt.no_grad():
                result = instruction.call(mt, *[alive[at] for at in chosen], *settings)
            if not instruction.changes:
                alive.append(result)
        known = len(arguments)
        return [
            each
            for at, each in enumerate(alive[known:], known)
            if not self.taken[at] or at % EVERY == 0
        ]

    def __str__(self) -> str:
        """Return a line for each instruction."""
        return "\n".join(
            f"{instruction.name} of {chosen} with {settings}" + " under no_grad()" * (not recorded)
            for instruction, chosen, settings, recorded in self.steps
        )


def check_lazy(draw: Draw) -> None:
    """Compare a random function with its deferred execution.

    Operations may save other tensors for the backward pass than in eager execution, and therefore
    reject other in-place changes. Such an error ends the comparison.

    Raises:
        AssertionError: the outcomes differ.
    """
    arrays = some_arrays(draw)
    function = drawn(draw, new_arguments(arrays))
    wanted = done(function, arrays)
    with mt.lazy():
        found = done(function, arrays)
    for each, other in ((found, wanted), (wanted, found)):
        if each and each[-1] is InPlaceError:
            del each[-1], other[len(each) :]
    if len(found) != len(wanted) or not all(map(same, found, wanted)):
        raise AssertionError(f"{function}\n\nlazy:\n{found}\n\neager:\n{wanted}")


def check_program(draw: Draw) -> Compiled:
    """Compare a random function with its program; return the compiled function.

    The compiled function is also called with other elements: those recorded, in reverse order.

    Raises:
        CompileError: the function cannot be recorded as a program.
        AssertionError: the outcomes differ.
    """
    arrays = some_arrays(draw)
    function = drawn(draw, new_arguments(arrays))
    compiled = mt.compile(function)
    for turned in (False, True, False):
        given = list(map(backwards, arrays)) if turned else arrays
        wanted, found = done(function, given), done(compiled, given)
        if len(found) != len(wanted) or not all(map(same, found, wanted)):
            raise AssertionError(
                f"{function}\n\n{compiled.program}\n\ncompiled:\n{found}\n\neager:\n{wanted}"
            )
    return compiled


def drawn(draw: Draw, arguments: Sequence[mt.Tensor]) -> Function:
    """Return a function of these tensors, of at most 16 instructions, none of which fails."""
    function, alive = Function(taken=[0] * len(arguments)), list(arguments)
    left = draw.between(4, 16)
    while left:
        left -= 1
        instruction, chosen, settings = drawn_call(draw, alive)
        operands = [alive[at] for at in chosen]
        repeats = any(overlaps(x.shape, x._tensor.strides) for x in operands)
        if settings is None or (instruction.changes and repeats):
            continue
        recorded = not instruction.changes or draw.below(4) > 0
        with nullcontext() if recorded else mt.no_grad():
            result = outcome(instruction.call, mt, *operands, *settings)
        if isinstance(result, Exception):
            continue
        function.steps.append((instruction, chosen, settings, recorded))
        for at in chosen:
            function.taken[at] += 1
        if not instruction.changes:
            alive.append(result)
            function.taken.append(0)
            left = 0 if result.numel() > LARGEST else left
    return function


def done(function: Callable[..., Any], arrays: Sequence[Array]) -> list[Any]:
    """Return the outcome of a call: results, arguments afterwards, and their gradients.

    If the call or the gradients raise an error, its type is the last item.
    """
    arguments = new_arguments(arrays)
    results = outcome(function, *arguments)
    if isinstance(results, Exception):
        if isinstance(results, CompileError):
            raise results
        return [type(results)]
    found = [_elements(x) for x in (*results, *arguments)]
    wanted = [x for x in results if x.requires_grad]
    error = outcome(_differentiate, wanted)
    if isinstance(error, Exception):
        return [*found, type(error)]
    return [
        *found,
        *[None if x.grad is None else _elements(x.grad) for x in arguments if x.is_leaf],
    ]


def backwards(array: Array) -> Array:
    """Return an array with its elements in reverse order."""
    return array.reshape(-1)[::-1].reshape(array.shape)


def new_arguments(arrays: Sequence[Array]) -> list[mt.Tensor]:
    """Return tensors of arrays; all floating-point ones but the last require grad."""
    return [
        mt.tensor(each, requires_grad=each.dtype.kind == "f" and each is not arrays[-1])
        for each in arrays
    ]


def _differentiate(results: Sequence[mt.Tensor]) -> None:
    for each in results:
        weights = np.cos(np.arange(each.numel())).reshape(tuple(each.shape))
        (each.double() * mt.tensor(weights)).sum().backward(retain_graph=True)


def _elements(x: mt.Tensor) -> Array:
    return np.array(x.detach())


def same(ours: Any, theirs: Any) -> bool:
    """Return whether two items of outcomes agree: arrays up to rounding, others exactly."""
    if not isinstance(theirs, np.ndarray):
        return ours is theirs
    alike = (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    return alike and np.allclose(ours, theirs, rtol=2e-5, atol=2e-5, equal_nan=True)


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a call, or the error that it raises."""
    try:
        return call(*args)
    except Exception as error:  # noqa: BLE001 - errors are compared, too
        return error
