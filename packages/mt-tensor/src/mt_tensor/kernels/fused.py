"""Fused kernels: a backend's own forward and backward of a named operation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from mt_autodiff import derivatives
from mt_autodiff.core.mode import recording
from mt_tensor.core.graph import Node, changed_in_place, record, version_of
from mt_tensor.core.named import FUSED, GRADIENTS
from mt_tensor.core.tensor import Tensor
from mt_tensor.recording.functions import checked_gradient, elements_of

Needs = Sequence[bool]
"""Whether the gradient of each argument is required."""

Saved = tuple[Any, ...]
"""The values that a kernel saves for its gradient, besides the arguments."""

Gradients = Sequence[Tensor | None]
"""The gradient of each argument, or None."""


class FusedKernel:
    """A backend's implementation of a named operation: `value` and `gradient`.

    Neither of them records a graph. If gradients are recorded for higher derivatives, they are
    computed with the composition instead.
    """

    reads: Collection[int] | None = None
    """The positions of the arguments whose elements `gradient` reads; None for all.

    The others may be changed in place before backward.
    """

    def fits(self, *arguments: Any) -> bool:
        """Return whether the kernel supports these arguments; for others the composition runs."""
        return True

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the result, a new tensor, and the values to save for `gradient`.

        Args:
            needs: whether the gradient of each argument will be required.
            *arguments: the arguments of the composition.
        """
        raise NotImplementedError

    def gradient(
        self, grad: Any, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Any]:
        """Return the gradient of each argument; None where it is zero or not required.

        Each is either a tensor with its own memory, which may become the `grad` of a leaf without a
        copy, or the upstream gradient itself.

        Args:
            grad: the gradient of the result.
            saved: the saved values that `value` returned.
            needs: those of `value`, or True in fewer places.
            *arguments: the arguments of `value`.
        """
        raise NotImplementedError

    def recorded(self, name: str, *arguments: Any) -> Tensor:
        """Run the operation called `name`; record it if a gradient is required.

        For arguments that the kernel does not support, the composition runs.
        """
        if not self.fits(*arguments):
            return FUSED[name](*arguments)
        result: Tensor
        if not recording.get():
            result = self.value((False,) * len(arguments), *arguments)[0]
            return result
        flags = []
        for x in arguments:
            flag = isinstance(x, Tensor) and x._requires_grad
            flags.append(flag is True or bool(flag and x.requires_grad))  # updates `_node`
        needs = tuple(flags)
        recording.set(False)
        try:
            result, saved = self.value(needs, *arguments)
        finally:
            recording.set(True)
        if True in needs:
            self._record(name, arguments, needs, result, saved)
        return result

    def _record(
        self, name: str, arguments: tuple[Any, ...], needs: Needs, result: Tensor, saved: Saved
    ) -> None:
        """Record a result in the graph."""
        inputs, read, version = [], [], 0
        for position, x in enumerate(arguments):
            if isinstance(x, Tensor):
                data = x._tensor
                if data._version is not None:
                    version += data._version[0]
                if needs[position]:
                    inputs.append(x._node or x)
                if self.reads is None or position in self.reads:
                    read.append(data)
        if saved:  # with the result itself, there would be a reference cycle
            saved = tuple([value.detach() if value is result else value for value in saved])
            read += elements_of(saved)
        record(result, self, name, inputs, (arguments, saved, needs, version), read)

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Tensor, needed: Any) -> list[Any]:
        """Return the gradients of the inputs.

        Raises:
            GradientError: a gradient does not fit its argument.
            InPlaceError: gradients are recorded, and an argument has been changed in place.
        """
        arguments, saved, requires, version = ctx
        needs = requires
        if needed is not None:
            parents = iter(inputs)
            needs = tuple([each and next(parents) in needed for each in requires])
        if recording.get():
            if version_of(elements_of(arguments)) != version:
                raise changed_in_place(repr(node.name))
            recorded = GRADIENTS.get(node.name)
            if recorded is None:
                recorded = functools.partial(_gradient_of_composition, FUSED[node.name])
            gradients = recorded(grad, needs, *arguments)
        else:
            gradients = self.gradient(grad, saved, needs, *arguments)
        node.check_count(gradients, requires)
        results: list[Any] = []
        for gradient, need in zip(gradients, requires, strict=True):
            if need:
                results.append(
                    None
                    if gradient is None
                    else _mark(checked_gradient(gradient, inputs[len(results)], node.name), grad)
                )
        return results


def _mark(gradient: Tensor, grad: Tensor) -> Tensor:
    """Mark a gradient as owned if it has memory of its own, and return it."""
    gradient._owned = gradient is not grad and gradient._tensor._version is None
    return gradient


Kernel: TypeAlias = Callable[..., Any] | FusedKernel


def by_kernel(
    name: str, kernel: Kernel, *arguments: Any, fallback: FusedKernel | None = None
) -> Tensor:
    """Run a named operation with a kernel; record it if a gradient is required.

    Args:
        name: the operation.
        kernel: the kernel.
        *arguments: the arguments of the composition, in order.
        fallback: the kernel for arguments that `kernel` does not support. For arguments that
            neither supports, the composition runs.
    """
    if isinstance(kernel, FusedKernel):
        if fallback is not None and not kernel.fits(*arguments):
            kernel = fallback
        return kernel.recorded(name, *arguments)
    return kernel(*arguments)  # type: ignore[no-any-return]


def _gradient_of_composition(
    composed: Callable[..., Tensor], grad: Tensor, needs: Sequence[bool], *arguments: Any
) -> list[Tensor | None]:
    """Return the gradient of each argument, recorded as a function of the arguments and `grad`."""
    result = composed(*arguments)
    positions: dict[Any, int] = {}  # the first one, if a tensor is given twice
    for position, (argument, needed) in enumerate(zip(arguments, needs, strict=True)):
        if needed:
            positions.setdefault(argument.variable, position)
    gradients: list[Tensor | None] = [None] * len(arguments)
    if result.requires_grad:
        found = derivatives(result.variable, grad, True, positions, positions)
        for variable, gradient in found.items():
            gradients[positions[variable]] = gradient
    return gradients
