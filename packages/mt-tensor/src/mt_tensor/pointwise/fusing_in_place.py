"""The function of `fuse_in_place` as a formula: tensors changed together, in one pass over memory.

    @mt.fuse_in_place("place", "velocity")
    def roll(place, velocity, slope, rate):
        velocity = 0.9 * velocity + slope
        return place - rate * velocity, velocity

Run operation by operation, such a step of an iteration reads and writes memory some twenty times,
which is all that it costs. As in `fuse`, the function is run once, on symbols, and the operations
become a formula. It has several results, which replace the arguments that are named.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from mt_autodiff.core.mode import recording
from mt_operators import Formula
from mt_operators.core.differentiation import Evaluation
from mt_operators.core.tracing import Recorder, narrowed
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import as_number
from mt_tensor.core.extensions import extends
from mt_tensor.core.in_place import Function
from mt_tensor.core.layout import Layout
from mt_tensor.core.operands import common_backend
from mt_tensor.core.plans import Plans
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import DTypeError, FusionError, InPlaceError, ShapeError
from mt_tensor.pointwise.fusing import name_of, on_symbols, value_of
from mt_tensor.pointwise.memory import are_apart


@extends("fuse in place")
def fused_in_place(function: Function, changed: tuple[str, ...]) -> Callable[..., None]:
    """Return a function of `fuse_in_place` as a formula that a backend runs in one pass.

    It is run once, on symbols, for each combination of settings and arguments that are None.

    Args:
        function: the function.
        changed: the names of the arguments that its results replace.

    Raises:
        FusionError: an argument has not such a name; or on a call, if the function does not return
            a tensor for each that is changed, None for None, or does what `fuse` refuses.
        InPlaceError: on a call, if the change would have to be recorded, or tensors that are to
            be changed share memory.
        ShapeError: on a call, if tensors that are to be changed differ in shape or type, or another
            does not broadcast to them.
        DTypeError: on a call, if they are not floating-point.
    """
    names = _positional(function)
    if not changed or not {*changed} <= {*names}:
        raise FusionError(
            f"fuse_in_place() takes names of positional arguments of {function!r}, which are "
            f"{', '.join(names)}; {', '.join(map(repr, changed)) or 'none'} was given."
        )
    places = tuple(names.index(name) for name in changed)

    @functools.cache
    def operation(absent: tuple[bool, ...], **settings: Any) -> Change:
        return Change(function, names, absent, places, settings)

    @functools.wraps(function)
    def change(*args: Any, **settings: Any) -> None:
        if len(args) != len(names):
            raise TypeError(
                f"{name_of(function)} takes {len(names)} positional argument(s); {len(args)} "
                "were given."
            )
        absent = tuple(map(operator.is_, args, itertools.repeat(None)))
        operation(absent, **settings)(args)

    return change


def _positional(function: Function) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]


class Change:
    """A function with its settings, as a formula over the arguments that it reads or changes.

    Attributes:
        formula: computes the results.
        plans: how each backend computes them.
        reads: which of the function's arguments the formula takes.
        changed: which of these the results replace.
    """

    def __init__(
        self,
        function: Function,
        names: Sequence[str],
        absent: Sequence[bool],
        places: Sequence[int],
        settings: dict[str, Any],
    ) -> None:
        name = name_of(function)
        present = [place for place, missing in enumerate(absent) if not missing]
        recorder = Recorder(name, len(present))
        arguments = dict(zip(present, map(on_symbols, recorder.arguments), strict=True))
        returned = function(*map(arguments.get, range(len(names))), **settings)
        results = returned if isinstance(returned, tuple) else (returned,)
        if [result is None for result in results] != [absent[place] for place in places]:
            raise FusionError(
                f"{name} must return {len(places)} tensors, one for each argument that it changes, "
                f"and None for what is None; it returned {returned!r}."
            )
        graph = recorder.graph([value_of(result) for result in results if result is not None])
        changed = [place for place in places if not absent[place]]
        computed = Evaluation(name, [names[place] for place in present], graph)
        whole = Formula(name, graph.arity, len(graph.outputs), computed)
        self.formula, reads = narrowed(whole, [present.index(place) for place in changed])
        self.reads = [present[i] for i in reads]
        self.changed = tuple([self.reads.index(place) for place in changed])
        self.plans = Plans(self.formula)

    def __call__(self, args: Sequence[Any]) -> None:
        """Change tensors."""
        given = list(map(args.__getitem__, self.reads))
        targets = list(map(given.__getitem__, self.changed))
        layout, backend = self._checked(targets, given)
        dtype, shape = layout.dtype, layout.shape
        inputs: list[Any] = []
        views: list[TensorData] = []  # those of the inputs that are no numbers
        for arg in given:
            if arg.__class__ is float:
                inputs.append(arg)
            elif isinstance(arg, Tensor):
                if arg.backend is not backend:
                    common_backend(*given)  # raises
                own = arg._tensor.layout
                if own.shape != shape and own.shape and shape_broadcast(own.shape, shape) != shape:
                    raise ShapeError(
                        f"{self.formula.name} changes tensors of shape {shape} in place, to which "
                        f"{own.shape} does not broadcast."
                    )
                views.append((arg if own.dtype is dtype else arg.detach().to(dtype))._tensor)
                inputs.append(views[-1])
            else:
                inputs.append(as_number("an argument", arg))
        if not are_apart(views):
            self._set_apart(inputs, backend)
        self.plans.change(backend, [*map(inputs.__getitem__, self.changed)], *inputs)
        for tensor in targets:
            tensor._tensor.bump_version()

    def _checked(self, targets: list[Any], given: list[Any]) -> tuple[Layout, TensorBackend]:
        """Return layout and backend of the first of the tensors that are to be changed.

        Raises:
            DTypeError, ShapeError, InPlaceError: these cannot be changed together, unrecorded.
        """
        name, unrecorded = self.formula.name, not recording.get()
        layout: Layout | None = None
        for tensor in targets:
            if not isinstance(tensor, Tensor):
                raise DTypeError(f"{name} changes floating-point tensors in place, not {tensor!r}.")
            own = tensor._tensor.layout
            if not own.dtype.is_floating_point:
                raise DTypeError(
                    f"{name} changes floating-point tensors in place, not {own.dtype.name}."
                )
            whole = own.row_major and unrecorded  # as almost always
            if not whole and tensor._check_in_place(*given):
                raise InPlaceError(
                    f"{name} is not recorded, but a gradient is wanted of one of its arguments: "
                    "call it under no_grad()."
                )
            layout = layout or own
            if own is not layout and (own.dtype, own.shape) != (layout.dtype, layout.shape):
                raise ShapeError(
                    f"{name} changes tensors of one shape and type together; {layout.dtype.name} "
                    f"of shape {layout.shape} and {own.dtype.name} of shape {own.shape} were given."
                )
        return layout, targets[0].backend  # type: ignore[return-value]  # there is one

    def _set_apart(self, inputs: list[Any], backend: TensorBackend) -> None:
        """Replace inputs that share memory with a tensor that is changed by copies.

        Raises:
            InPlaceError: they are to be changed as well.
        """
        for count, place in enumerate(self.changed):
            for other, data in enumerate(inputs):
                is_same = other == place or other in self.changed[:count]
                if is_same or not isinstance(data, TensorData):
                    continue
                if backend.same_memory(data.storage, inputs[place].storage):
                    if other in self.changed:
                        raise InPlaceError(
                            f"{self.formula.name} changes two tensors that share memory: clone() "
                            "one of them."
                        )
                    inputs[other] = backend.copy(data, data.layout.contiguous)
