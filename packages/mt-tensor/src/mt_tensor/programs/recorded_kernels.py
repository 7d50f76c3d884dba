"""Kernels whose calls are recorded, with what they save for their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.tensor import Tensor
from mt_tensor.kernels.fused import FusedKernel
from mt_tensor.programs.program import Filled, Instruction
from mt_tensor.tape import capturing


class Saved:
    """What a kernel saved for its gradient."""

    __slots__ = ("__weakref__", "values")

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values


class RecordedKernel(FusedKernel):
    """A kernel whose calls the active recorder records."""

    def __init__(self, backend: TensorBackend, name: str, kernel: FusedKernel) -> None:
        self.backend, self.name, self.kernel = backend, name, kernel
        self.reads = kernel.reads

    def fits(self, *arguments: Any) -> bool:
        """Ask the kernel."""
        return self.kernel.fits(*arguments)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        """Run the kernel, and note that."""
        recorder = capturing()
        if recorder is None:
            return self.kernel.value(needs, *arguments)
        empty = [at for at, each in enumerate(arguments, 1) if each == [] and type(each) is list]
        result, saved = recorder.run(self.kernel.value, needs, *arguments)
        shown = recorder.results(result)
        filled = {at: Filled(recorder.results(arguments[at - 1])) for at in empty}
        marked = list(recorder.marked((needs, *arguments)))
        for at, each in filled.items():
            marked[at] = each
        kept = Saved(tuple([x.detach() if x is result else x for x in saved]))
        recorder.note(
            Instruction(
                self.name,
                self.backend,
                self.kernel.value,
                tuple(marked),
                {},
                (shown, recorder.box(kept)),
            )
        )
        return result, (kept, *[x for x in saved if isinstance(x, Tensor)])

    def gradient(
        self, grad: Any, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Any]:
        """Run the gradient of the kernel, and note that."""
        recorder = capturing()
        kept = saved[0]
        if recorder is None:
            return self.kernel.gradient(grad, kept.values, needs, *arguments)
        gradients: Sequence[Any] = recorder.run(
            self.kernel.gradient, grad, kept.values, needs, *arguments
        )
        marked = recorder.marked((grad, kept, needs, *arguments))
        recorder.note(
            Instruction(
                f"{self.name}_gradient",
                self.backend,
                self.kernel.gradient,
                marked,
                {},
                recorder.results(tuple(gradients)),
            )
        )
        return gradients
