"""Fused kernels whose calls are recorded, with the values saved for their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.tensor import Tensor
from mt_tensor.kernels.fused import FusedKernel
from mt_tensor.programs.program import Instruction
from mt_tensor.tape import capturing


@dataclass(eq=False)
class Saved:
    """The values that a kernel saved for its gradient, as one opaque value of a program."""

    values: tuple[Any, ...]


class RecordedKernel(FusedKernel):
    """A fused kernel that adds an instruction to the active recorder at each call."""

    def __init__(self, backend: TensorBackend, name: str, kernel: FusedKernel) -> None:
        self.backend, self.name, self.kernel = backend, name, kernel
        self.reads = kernel.reads

    def fits(self, *arguments: Any) -> bool:
        """Return whether the kernel supports these arguments."""
        return self.kernel.fits(*arguments)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        """Run the kernel, and record the call.

        Empty lists among the arguments, such as the statistics of `batch_norm`, are outputs.
        """
        recorder, run = capturing(), self.kernel.value
        if recorder is None:
            return run(needs, *arguments)
        lists = [at for at, each in enumerate(arguments) if type(each) is list and not each]
        result, saved = recorder.run(run, needs, *arguments)
        inputs = [None if at in lists else each for at, each in enumerate(arguments)]
        operands = recorder.as_operands((needs, *inputs))
        kept = Saved(tuple([x.detach() if x is result else x for x in saved]))
        results = recorder.results((result, [arguments[at] for at in lists]))
        results = results[0], recorder.opaque(kept), results[1]
        replayed = _returning_lists(run, lists) if lists else run
        recorder.note(Instruction(self.name, self.backend, replayed, operands, {}, results))
        return result, (kept, *[x for x in saved if isinstance(x, Tensor)])

    def gradient(
        self, grad: Any, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Any]:
        """Run the gradient of the kernel, and record the call."""
        recorder, run, kept = capturing(), self.kernel.gradient, saved[0]
        if recorder is None:
            return run(grad, kept.values, needs, *arguments)
        gradients: Sequence[Any] = recorder.run(run, grad, kept.values, needs, *arguments)
        operands = recorder.as_operands((grad, kept, needs, *arguments))
        results = recorder.results(tuple(gradients))
        name = f"{self.name}_gradient"
        recorder.note(Instruction(name, self.backend, run, operands, {}, results))
        return gradients


def _returning_lists(value: Callable[..., Any], positions: list[int]) -> Callable[..., Any]:
    """Return a function that also returns the lists which the `value` of a kernel fills."""

    def called(needs: Sequence[bool], *arguments: Any) -> tuple[Any, ...]:
        given = list(arguments)
        for at in positions:
            given[at] = []
        return (*value(needs, *given), [given[at] for at in positions])

    return called
