"""Activation checkpointing: recompute intermediate results in backward instead of keeping them.

A recorded operation keeps what its gradient reads. `checkpoint` keeps only the arguments of a
function and runs it again when its gradient is needed, in the same context (autocast, random
numbers, backend), which trades time for memory (Chen et al., Training Deep Nets with Sublinear
Memory Cost, 2016).
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mt_autodiff import GradientError, topological_sort
from mt_autodiff.core.mode import recording
from mt_tensor.autograd.gradients import grad
from mt_tensor.core.generator import current_generator
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError
from mt_tensor.mixed_precision.autocast import recasting
from mt_tensor.programs.pytree import leaves_in, map_leaves
from mt_tensor.recording.functions import Function

__all__ = ["checkpoint", "checkpoint_sequential"]


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,  # noqa: ARG001 - torch has two implementations
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function without keeping its intermediate results for backward.

    The function must compute the same results when it runs again. Its side effects, such as updates
    of the statistics of batch normalization, happen twice.

    Args:
        function: a function of tensors and other values, such as a module. It may read other
            tensors, such as parameters, which get gradients, too.
        *args: its arguments, which may be nested tuples, lists and dictionaries.
        use_reentrant: accepted for compatibility with torch, without effect.
        preserve_rng_state: whether to draw the same random numbers again.
        **kwargs: its keyword arguments.

    Returns:
        The result of the function: a tensor, or tensors and other values in nested containers.

    Raises:
        InPlaceError: (in backward) a tensor that requires grad and that the function reads has been
            changed in place.
        GradientError: (in backward) the function returned a different number of tensors.
    """
    if not recording.get():
        return function(*args, **kwargs)
    segment = _Segment(function, (args, kwargs), preserve_rng_state)
    points, result = segment.run()
    found = differentiable_in(result)
    if not found:
        return result
    segment.variables = [x for x in leaves_of(found) if all(x is not point for point in points)]
    segment.results = tuple([x.detach() for x in found])
    recorded = _Recomputed.apply(segment, *segment.tensors, *segment.variables)
    outputs = {id(x): out for x, out in zip(found, recorded, strict=True)}
    return map_leaves(result, lambda x: outputs.get(id(x), x))


def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Apply functions one after the other, with a checkpoint for each segment but the last.

    Args:
        functions: the functions, such as the layers of a model.
        segments: the number of segments of equal length; the last may have more functions.
        input: the argument of the first function.
        use_reentrant: accepted for compatibility with torch, without effect.
        preserve_rng_state: as for `checkpoint`.

    Raises:
        DomainError: there are no functions, or `segments` is not from 1 to their number.
    """
    steps = list(functions)
    if not steps:
        raise DomainError("checkpoint_sequential() needs at least one function; none were given.")
    if not 1 <= segments <= len(steps):
        raise DomainError(
            f"checkpoint_sequential() needs from 1 to {len(steps)} segments for {len(steps)} "
            f"function(s); {segments} were given."
        )
    size = len(steps) // segments
    for first in range(0, size * (segments - 1), size):
        part = steps[first : first + size]
        input = checkpoint(
            _in_turn,
            part,
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return _in_turn(steps[size * (segments - 1) :], input)


def _in_turn(functions: Sequence[Callable[..., Any]], value: Any) -> Any:
    for function in functions:
        value = function(value)
    return value


def differentiable_in(value: Any) -> list[Tensor]:
    """Return the tensors in nested containers that require grad, each once."""
    tensors = [x for x in leaves_in(value) if isinstance(x, Tensor) and x.requires_grad]
    return list({id(x): x for x in tensors}.values())


def leaves_of(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Return the leaves from which tensors were computed, and that require grad."""
    variables = [each for x in tensors for each in topological_sort(x.variable)]
    return list({id(x): x for x in variables if isinstance(x, Tensor)}.values())


class _Segment:
    """A call of a function that can be repeated.

    Attributes:
        tensors: the arguments that require grad.
        variables: the other leaves that require grad and that the function reads.
        results: its results, without graph; read once.
    """

    def __init__(self, function: Callable[..., Any], arguments: Any, draws: bool) -> None:
        self._function, self._arguments = function, arguments
        self._context = contextvars.copy_context()
        self._generator = current_generator() if draws else None
        self._state = self._generator and self._generator.get_state()
        self.tensors = differentiable_in(arguments)
        self.variables: list[Tensor] = []
        self.results: tuple[Tensor, ...] = ()

    def run(self, create_graph: bool = False) -> tuple[list[Tensor], Any]:
        """Call the function in its context.

        Args:
            create_graph: whether the result depends on the arguments, instead of on new leaves with
                the same elements.

        Returns:
            The replacement of each tensor among the arguments, and the result.
        """
        points = [
            x.view(x.shape) if create_graph else x.detach().requires_grad_() for x in self.tensors
        ]
        replaced = {id(x): point for x, point in zip(self.tensors, points, strict=True)}
        args, kwargs = map_leaves(self._arguments, lambda x: replaced.get(id(x), x))
        return points, self._context.copy().run(self._call, args, kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        with recasting():
            return self._function(*args, **kwargs)

    def run_again(self, create_graph: bool) -> tuple[list[Tensor], Any]:
        """Call the function with the random numbers of the first call."""
        if self._generator is None:
            return self.run(create_graph)
        after = self._generator.get_state()
        self._generator.set_state(self._state)  # type: ignore[arg-type]
        try:
            return self.run(create_graph)
        finally:
            self._generator.set_state(after)


class _Recomputed(Function):
    """The results of a segment, as functions of its tensors and variables."""

    @staticmethod
    def forward(ctx: Any, segment: _Segment, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.segment = segment
        ctx.save_for_backward(*tensors)
        results, segment.results = segment.results, ()
        return results

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        segment: _Segment = ctx.segment
        ctx.saved_tensors  # noqa: B018 - raises an error if one has been changed
        create_graph = recording.get()
        points, result = segment.run_again(create_graph)
        found = differentiable_in(result)
        if len(found) != len(grads):
            raise GradientError(
                f"checkpoint() was given a function that returned {len(grads)} tensor(s) that "
                f"require grad, and {len(found)} when it ran again in backward: it must compute "
                "the same results."
            )
        inputs = [*points, *segment.variables]
        return None, *grad(found, inputs, grads, True, create_graph, allow_unused=True)
