"""Kernels of named operations that have a gradient of their own, and how they are recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from mt_autodiff import derivatives
from mt_autodiff.core.mode import recording
from mt_tensor.core.graph import Node, changed_in_place, record, version_of
from mt_tensor.core.named import FUSED, GRADIENTS
from mt_tensor.core.tensor import Tensor
from mt_tensor.recording.functions import elements_of, fitting

Needs = Sequence[bool]
"""For each argument, whether its gradient is wanted."""

Saved = tuple[Any, ...]
"""What the gradient of a kernel reads beside the arguments."""

Gradients = Sequence[Tensor | None]
"""For each argument its gradient, or None."""


class FusedKernel:
    """A backend's own version of a named operation: its value, and the gradient of its tensors.

    Both compute with the elements and record nothing. A gradient that is to be differentiated in
    turn comes from the composed form instead.
    """

    reads: Collection[int] | None = None
    """The arguments whose elements `gradient` reads, by position; None for all.

    The others may be changed in place before backward.
    """

    def fits(self, *arguments: Any) -> bool:
        """Whether the kernel can do this case; the composed form does the others."""
        return True

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the result, a new tensor, and what `gradient` will want to know beside arguments.

        Args:
            needs: for each argument, whether its gradient will be wanted.
            *arguments: those of the composed form.
        """
        raise NotImplementedError

    def gradient(
        self, grad: Any, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Any]:
        """Return the gradient for each argument; None where there is none, or none is wanted.

        Each is a new tensor in memory of its own, which becomes `grad` of a leaf as it is; or the
        upstream gradient itself.

        Args:
            grad: the gradient of the result.
            saved: what `value` returned beside the result.
            needs: what `value` was given, or True in fewer places.
            *arguments: those that `value` was called with.
        """
        raise NotImplementedError

    def recorded(self, name: str, *arguments: Any) -> Tensor:
        """Return the result of the operation called `name`, recorded if a gradient is wanted.

        Cases that do not fit the kernel are composed.
        """
        if not self.fits(*arguments):
            return FUSED[name](*arguments)
        result: Tensor
        if not recording.get():
            result = self.value((False,) * len(arguments), *arguments)[0]
            return result
        wanted = []
        for x in arguments:
            wants = isinstance(x, Tensor) and x._requires_grad
            wanted.append(wants is True or bool(wants and x.requires_grad))
        needs = tuple(wanted)
        recording.set(False)
        try:
            result, saved = self.value(needs, *arguments)
        finally:
            recording.set(True)
        if True in needs:
            inputs, read, version = [], [], 0
            for place, x in enumerate(arguments):
                if isinstance(x, Tensor):
                    data = x._tensor
                    if data._version is not None:
                        version += data._version[0]
                    if needs[place]:
                        inputs.append(x._node or x)
                    if self.reads is None or place in self.reads:
                        read.append(data)
            if saved:  # the result itself would lead back to what is saved here, and be freed late
                saved = tuple([value.detach() if value is result else value for value in saved])
                read += elements_of(saved)
            record(result, self, name, inputs, (arguments, saved, needs, version), read)
        return result

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Tensor, needed: Any) -> list[Any]:
        """Return the gradients of the inputs by `gradient`, or recorded; see `Rule`.

        Raises:
            GradientError: what `gradient` returned does not fit the arguments.
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
        node.one_for_each(gradients, requires)
        own = [gradient for gradient, need in zip(gradients, requires, strict=True) if need]
        return [
            None if gradient is None else _own(node.name, gradient, parent, grad)
            for gradient, parent in zip(own, inputs, strict=True)
        ]


def _own(name: str, gradient: Any, parent: Any, grad: Tensor) -> Tensor:
    """Return a gradient that fits its input, marked as new memory if it is that."""
    fits: Tensor = fitting(gradient, parent, name)
    fits._fresh = fits is not grad and fits._tensor._version is None
    return fits


Kernel: TypeAlias = Callable[..., Any] | FusedKernel


def by_kernel(
    name: str, kernel: Kernel, *arguments: Any, otherwise: FusedKernel | None = None
) -> Tensor:
    """Return the result of a named operation by a kernel, recorded if a gradient is wanted.

    Args:
        name: the operation.
        kernel: a kernel for it.
        *arguments: those of the composition, in order.
        otherwise: the kernel for the cases that do not fit `kernel`. Cases that fit neither are
            composed.
    """
    if isinstance(kernel, FusedKernel):
        if otherwise is not None and not kernel.fits(*arguments):
            kernel = otherwise
        return kernel.recorded(name, *arguments)
    result: Tensor = kernel(*arguments)
    return result


def _gradient_of_composition(
    composed: Callable[..., Tensor], grad: Tensor, needs: Sequence[bool], *arguments: Any
) -> list[Tensor | None]:
    """Return the gradient for each argument, recorded as a function of them and of `grad`."""
    result = composed(*arguments)
    places: dict[Any, int] = {}  # of a tensor that is given twice, the first
    for place, (argument, needed) in enumerate(zip(arguments, needs, strict=True)):
        if needed:
            places.setdefault(argument.variable, place)
    gradients: list[Tensor | None] = [None] * len(arguments)
    if result.requires_grad:
        found = derivatives(result.variable, grad, True, places, places)
        for variable, gradient in found.items():
            gradients[places[variable]] = gradient
    return gradients
