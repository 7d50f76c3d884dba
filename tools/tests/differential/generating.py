"""Generate programs: tensors of all kinds, and calls derived from samples.

A step takes a sample of some operation, and replaces its operands by earlier values of the program,
or by new tensors of similar shapes. Then something may be changed: a size, a dtype, the memory
layout of a tensor, a setting. The generator only uses the shape, dtype and `requires_grad` of
values, on which both libraries agree, so that a seed and a number always generate the same program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from differential.drawing import (
    DTYPES,
    FLOATS,
    INT_DTYPES,
    SIZES,
    Draw,
    another_shape,
    changed,
    elements,
)
from differential.operations import (
    OPERATOR_FORMS,
    Operation,
    catalogue,
    parameters_of,
    settings_pool,
)
from differential.programs import Elements, Ref, Source, Step, leaf, mapped, parts_of
from differential.recording import Sample
from mt_tensor.core.dtypes import Array

LARGEST = 400
"""The maximum number of elements of an operand."""

NEVER_SET = frozenset({"backend", "device", "generator", "hook", "sorter", "non_blocking", "out"})
"""Parameters that only samples set."""

GRADIENTS = ("backward", "autograd.grad")


class Value(NamedTuple):
    """The known properties of an earlier value."""

    ref: Ref
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool


class Generator:
    """Generates one program, step by step.

    Attributes:
        length: the number of operations.
    """

    def __init__(self, seed: int, number: int) -> None:
        self.draw = Draw(f"{seed} {number}")
        self.length = self.draw.randrange(2, 9)

    def next_steps(self, number: int, values: list[Value]) -> list[Step]:
        """Return the next steps: those that make operands, and a call.

        Args:
            number: the number of steps so far.
            values: their results.
        """
        draw = self.draw
        values = [value for value in values if int(np.prod(value.shape)) <= LARGEST]
        recorded = [value for value in values if value.requires_grad]
        if recorded and draw.chance(0.12):
            operation = catalogue()[draw.one_of(GRADIENTS)]
        else:
            operation = draw.one_of(list(catalogue().values()))
        sample = draw.one_of(operation.samples)
        self.steps: list[Step] = []
        self.number = number
        if operation.name in GRADIENTS and recorded:
            args, settings = self._gradient(sample, recorded)
        else:
            args, settings = self._operands(sample, values)
        given = args, settings
        args, settings = self._settings(sample.form, args, settings)
        varied = (args, settings) != given
        form = self._form(operation, sample, args, settings)
        unrecorded = draw.chance(0.25 if operation.name.endswith(("_", "setitem")) else 0.04)
        return [*self.steps, Step(form, args, settings, unrecorded, varied)]

    def _form(self, operation: Operation, sample: Sample, args: Any, settings: Any) -> str:
        """Return a form of the call: function, method or operator."""
        if self.draw.chance(0.6) or not args or not isinstance(args[0], Ref):
            return sample.form
        if not sample.form.endswith("()"):
            return sample.form
        operator = OPERATOR_FORMS.get(operation.name)
        if operator and not settings and len(args) == 1 + (operator[-1] != "x"):
            return operator
        return self.draw.one_of(operation.forms or (sample.form,))

    # --- Operands -------------------------------------------------------------------------------

    def _operands(self, sample: Sample, values: list[Value]) -> tuple[Any, Any]:
        """Return the arguments of a sample with values in place of operands."""
        draw = self.draw
        operands = list(parts_of((sample.args, sample.settings), Elements))
        sizes: dict[int, int] = {}
        chosen: dict[int, Ref] = {}
        if operands and values and draw.chance(0.7):
            place = 0 if draw.chance(0.7) else draw.randrange(len(operands))
            value = self._earlier(operands[place].array, values)
            if value is not None:
                chosen[place] = value.ref
                if len(value.shape) == operands[place].array.ndim:
                    sizes = dict(zip(operands[place].array.shape, value.shape, strict=True))
        elif draw.chance(0.4):
            known = {size for operand in operands for size in operand.array.shape}
            sizes = {size: draw.one_of(SIZES) for size in sorted(known) if draw.chance(0.5)}
        dtype = draw.one_of(FLOATS) if draw.chance(0.85) else draw.one_of(DTYPES)
        for place, operand in enumerate(operands):
            if place not in chosen:
                chosen[place] = self._fitting(operand.array, sizes, dtype, values)
        refs = iter([chosen[place] for place in range(len(operands))])
        return mapped((sample.args, dict(sample.settings)), Elements, lambda _: next(refs))  # type: ignore[no-any-return]

    def _earlier(self, array: Array, values: list[Value]) -> Value | None:
        """Return an earlier value, usually with as many dimensions and the same dtype category."""
        if self.draw.chance(0.1):
            return self.draw.one_of(values)
        fitting = [
            value
            for value in values
            if len(value.shape) == array.ndim and kind_of(value.dtype) == array.dtype.kind
        ]
        return self.draw.one_of(fitting) if fitting else None

    def _fitting(self, array: Array, sizes: dict[int, int], dtype: str, values: list[Value]) -> Ref:
        """Return a value for an operand, an earlier or a new one."""
        draw = self.draw
        shape = tuple([sizes.get(int(size), int(size)) for size in array.shape])
        if draw.chance(0.05):
            shape = another_shape(draw, shape)
        if draw.chance(0.3):
            same = [
                value
                for value in values
                if value.shape == shape and kind_of(value.dtype) == array.dtype.kind
            ]
            if same:
                return draw.one_of(same).ref
        return self._new(array, shape, self._dtype(array, dtype))

    def _dtype(self, array: Array, dtype: str) -> str:
        draw, kind = self.draw, array.dtype.kind
        if draw.chance(0.06):
            return draw.one_of(DTYPES)
        if kind == "f":
            return dtype if draw.chance(0.9) else draw.one_of(FLOATS)
        if kind == "i":
            return "int64" if draw.chance(0.85) else draw.one_of(INT_DTYPES)
        return array.dtype.name

    def _new(self, like: Array, shape: tuple[int, ...], dtype: str) -> Ref:
        """Make a tensor, sometimes as a view of another one."""
        draw = self.draw
        base, view = shape, None
        if shape and draw.chance(0.3):
            base, view = _layout(draw, shape)
        array = elements(draw, base, dtype, like)
        wanted = dtype in FLOATS and like.dtype.kind == "f" and draw.chance(0.5)
        ref = self._add(leaf(array, wanted))
        return ref if view is None else self._add(replace(view, args=(ref, *view.args)))

    def _add(self, step: Step) -> Ref:
        self.steps.append(step)
        return Ref(self.number + len(self.steps) - 1)

    # --- Settings -------------------------------------------------------------------------------

    def _settings(self, form: str, args: Any, settings: Any) -> tuple[Any, Any]:
        """Return the arguments, sometimes with a setting changed or added."""
        draw = self.draw
        if draw.chance(0.6):
            return args, settings
        pool = settings_pool()
        plain = [i for i, value in enumerate(args) if _is_setting(value)]
        named = [name for name, value in settings.items() if _is_setting(value)]
        if draw.chance(0.4) or not plain + named:
            free = [
                name
                for name, parameter in parameters_of(form).items()
                if name in pool
                and name not in settings
                and name not in NEVER_SET
                and parameter.kind in {parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD}
                and list(parameters_of(form)).index(name) >= len(args)
            ]
            if free:
                name = draw.one_of(free)
                value = draw.one_of(pool[name])
                value = value if draw.chance(0.5) else changed(draw, value, pool[name])
                settings = {**settings, name: value}
        elif named and (not plain or draw.chance(0.5)):
            name = draw.one_of(named)
            settings = {**settings, name: changed(draw, settings[name], pool.get(name, ()))}
        else:
            i = draw.one_of(plain)
            names = list(parameters_of(form))
            known = pool.get(names[i], ()) if i < len(names) else ()
            args = (*args[:i], changed(draw, args[i], known), *args[i + 1 :])
        return args, settings

    # --- Gradients ------------------------------------------------------------------------------

    def _gradient(self, sample: Sample, recorded: list[Value]) -> tuple[Any, Any]:
        """Return arguments for differentiating a value with respect to one or two values."""
        draw = self.draw
        result = recorded[-1] if draw.chance(0.6) else draw.one_of(recorded)
        weights = self._add(leaf(elements(draw, result.shape, result.dtype, np.ones(2))))
        inputs = [draw.one_of(recorded).ref for _ in range(draw.randrange(1, 3))]
        args: tuple[Any, ...] = (result.ref, weights)
        if len(sample.args) == 3:
            args = (result.ref, inputs, weights)
        settings = {
            name: inputs if name == "inputs" else value for name, value in sample.settings.items()
        }
        return args, settings


def kind_of(dtype: str) -> str:
    """Return NumPy's category of a dtype, with unsigned integers as signed."""
    return {"f": "f", "b": "b"}.get(dtype[0], "i")


def _is_setting(value: Any) -> bool:
    return not list(parts_of(value, Ref)) and not (
        isinstance(value, Source) and not value.text.startswith("torch.")
    )


def _layout(draw: Draw, shape: tuple[int, ...]) -> tuple[tuple[int, ...], Step]:
    """Return the shape of a base tensor, and the step that makes a view of the given shape."""
    kind, dim = draw.randrange(5), draw.randrange(len(shape))
    before, size, after = shape[:dim], shape[dim], shape[dim + 1 :]
    every = slice(None)
    if kind == 0:
        order = draw.sample(range(len(shape)), len(shape))
        base = [0] * len(shape)
        for place, origin in enumerate(order):
            base[origin] = shape[place]
        return tuple(base), Step(".permute()", tuple(order))
    if kind == 1:
        return (*before, 1, *after), Step(".expand()", shape)
    if kind == 2:
        return (*before, 2 * size, *after), Step("[]", ((*[every] * dim, slice(None, None, 2)),))
    if kind == 3:
        return (*before, size + 2, *after), Step("[]", ((*[every] * dim, slice(1, size + 1)),))
    if dim == 0:
        return (2, *shape), Step("[]", (1,))
    return (*before, 3, size, *after), Step(".select()", (dim, -1))
