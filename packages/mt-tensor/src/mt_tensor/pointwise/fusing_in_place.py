"""`fuse_in_place`: compile a function that updates several tensors to one pass over memory.

    @mt.fuse_in_place("position", "velocity")
    def step(position, velocity, slope, rate):
        velocity = 0.9 * velocity + slope
        return position - rate * velocity, velocity

Run operation by operation, such an update reads and writes memory some twenty times, which
dominates its cost. As in `fuse`, the function is traced with symbols, and its operations become a
formula. The formula has several results, which overwrite the named arguments.
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
from mt_operators.core.tracing import Recorder, drop_unused
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
from mt_tensor.pointwise.fusing import name_of, symbolic_tensor, value_of
from mt_tensor.pointwise.memory import are_disjoint


@extends("fuse in place")
def fused_in_place(function: Function, changed: tuple[str, ...]) -> Callable[..., None]:
    """Compile a function decorated with `fuse_in_place` to a formula that runs in one pass.

    The function is traced once per combination of settings and of arguments that are None.

    Args:
        function: the function.
        changed: the names of the arguments that its results overwrite.

    Raises:
        FusionError: a name is not that of a positional argument; or on a call, if the function does
            not return one tensor per argument to overwrite (None for None), or is not elementwise.
        InPlaceError: on a call, if gradients would have to be recorded, or the tensors to overwrite
            share memory.
        ShapeError: on a call, if the tensors to overwrite differ in shape or dtype, or another
            argument does not broadcast to them.
        DTypeError: on a call, if the tensors to overwrite are not floating-point.
        TypeError: on a call, if the number of positional arguments is wrong, or one of them is
            neither a tensor nor a number.
    """
    names = _positional(function)
    if not changed or not {*changed} <= {*names}:
        raise FusionError(
            f"fuse_in_place() takes names of positional arguments of {function!r}, which are "
            f"{', '.join(names)}; {', '.join(map(repr, changed)) or 'none'} were given."
        )
    positions = tuple(names.index(name) for name in changed)

    @functools.cache
    def operation(absent: tuple[bool, ...], **settings: Any) -> InPlaceFormula:
        return InPlaceFormula(function, names, absent, positions, settings)

    @functools.wraps(function)
    def change(*args: Any, **settings: Any) -> None:
        if len(args) != len(names):
            raise TypeError(
                f"{name_of(function)}() takes {len(names)} positional argument(s); {len(args)} "
                "were given."
            )
        absent = tuple(map(operator.is_, args, itertools.repeat(None)))
        operation(absent, **settings)(args)

    return change


def _positional(function: Function) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]


class InPlaceFormula:
    """A function with settings, compiled to a formula of the arguments that it reads or overwrites.

    Attributes:
        formula: computes the results.
        plans: the plans of the formula for each backend and signature.
        reads: the positions of the formula's arguments among those of the function.
        changed: the positions of the arguments to overwrite among those of the formula.
    """

    def __init__(
        self,
        function: Function,
        names: Sequence[str],
        absent: Sequence[bool],
        positions: Sequence[int],
        settings: dict[str, Any],
    ) -> None:
        name = name_of(function)
        present = [i for i, missing in enumerate(absent) if not missing]
        recorder = Recorder(name, len(present))
        arguments = dict(zip(present, map(symbolic_tensor, recorder.arguments), strict=True))
        returned = function(*map(arguments.get, range(len(names))), **settings)
        results = returned if isinstance(returned, tuple) else (returned,)
        if [result is None for result in results] != [absent[i] for i in positions]:
            raise FusionError(
                f"{name} must return {len(positions)} tensors, one for each argument that it "
                f"changes, and None for one that is None; it returned {returned!r}."
            )
        graph = recorder.graph([value_of(result) for result in results if result is not None])
        changed = [i for i in positions if not absent[i]]
        computed = Evaluation(name, [names[i] for i in present], graph)
        full = Formula(name, graph.arity, len(graph.outputs), computed)
        self.formula, reads = drop_unused(full, [present.index(i) for i in changed])
        self.reads = [present[i] for i in reads]
        self.changed = tuple([self.reads.index(i) for i in changed])
        self.plans = Plans(self.formula)

    def __call__(self, args: Sequence[Any]) -> None:
        """Overwrite the arguments to change."""
        given = list(map(args.__getitem__, self.reads))
        targets = list(map(given.__getitem__, self.changed))
        layout, backend = self._checked(targets, given)
        dtype, shape = layout.dtype, layout.shape
        inputs: list[Any] = []
        views: list[TensorData] = []  # the inputs that are not numbers
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
                        f"shape {own.shape} does not broadcast."
                    )
                views.append((arg if own.dtype is dtype else arg.detach().to(dtype))._tensor)
                inputs.append(views[-1])
            else:
                inputs.append(as_number(f"an argument of {self.formula.name}", arg))
        if not are_disjoint(views):
            self._copy_aliases(inputs, backend)
        self.plans.change(backend, [*map(inputs.__getitem__, self.changed)], *inputs)
        for tensor in targets:
            tensor._tensor.bump_version()

    def _checked(self, targets: list[Any], given: list[Any]) -> tuple[Layout, TensorBackend]:
        """Return the layout and backend of the tensors to change.

        Raises:
            DTypeError: one is not floating-point.
            ShapeError: they differ in shape or dtype.
            InPlaceError: a gradient would have to be recorded.
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
            usual = own.row_major and unrecorded
            if not usual and tensor._check_in_place(*given):
                raise InPlaceError(
                    f"{name} is not recorded, but one of its arguments requires grad: call it "
                    "under no_grad()."
                )
            layout = layout or own
            if own is not layout and (own.dtype, own.shape) != (layout.dtype, layout.shape):
                raise ShapeError(
                    f"{name} changes tensors of one shape and dtype together; {layout.dtype.name} "
                    f"of shape {layout.shape} and {own.dtype.name} of shape {own.shape} were given."
                )
        return layout, targets[0].backend  # type: ignore[return-value]  # there is one

    def _copy_aliases(self, inputs: list[Any], backend: TensorBackend) -> None:
        """Copy inputs that share memory with a tensor to overwrite.

        Raises:
            InPlaceError: two tensors to overwrite share memory.
        """
        for count, target in enumerate(self.changed):
            for other, data in enumerate(inputs):
                is_same = other == target or other in self.changed[:count]
                if is_same or not isinstance(data, TensorData):
                    continue
                if backend.same_memory(data.storage, inputs[target].storage):
                    if other in self.changed:
                        raise InPlaceError(
                            f"{self.formula.name} changes two tensors that share memory: clone() "
                            "one of them."
                        )
                    inputs[other] = backend.copy(data, data.layout.contiguous)
