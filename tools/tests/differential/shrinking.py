"""Shrink a program that shows a difference to a simpler one that still shows it.

A simpler program has one step less, a constant tensor instead of a computed one, fewer or simpler
elements, or one setting less. The first simpler program with the same kind of difference is taken,
and the search restarts, until no simpler one shows it or it has taken too long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from differential.programs import Elements, Ref, Step, leaf, mapped, without
from differential.running import Run
from mt_tensor.core.dtypes import Array

SECONDS = 120
"""The CPU time after which the search ends, for programs that take long to compare."""

Program = list[Step]


def smallest(program: Run, run: Callable[[Program, bool], Run]) -> Run:
    """Return the simplest program found that shows the same difference.

    Args:
        program: a program after its run; its last step shows a difference.
        run: the function that has run it: of `running` or of `compiled`.
    """
    operation, kind = program.steps[-1].operation, _kind(program)
    end = time.process_time() + SECONDS

    def shown(steps: Program | None) -> Run | None:
        """Run a program, and return it if it shows the difference."""
        if steps is None or steps[-1].operation != operation or time.process_time() > end:
            return None
        try:
            other = run(steps, program.all_flags)
        except SyntaxError:
            return None
        return other if len(other.steps) == len(steps) and _kind(other) == kind else None

    program = shown(program.steps) or program  # with elements by the numbers of these steps
    for number in reversed(range(len(program.steps) - 1)):
        program = shown(_frozen(program.steps, number, program.elements)) or program
    simpler: Run | None = program
    while simpler is not None:
        program = simpler
        simpler = next(filter(None, map(shown, _simpler(program.steps))), None)
    return program


def _kind(program: Run) -> str | None:
    return None if program.difference is None else program.difference.kind


def _frozen(steps: Program, number: int, elements: dict[str, Array]) -> Program | None:
    """Return a program with a constant tensor in place of the result of a step."""
    array = elements.get(f"v{number}")
    if array is None or not steps[number].refs:
        return None
    return [*steps[:number], leaf(array), *steps[number + 1 :]]


def _simpler(steps: Program) -> Iterator[Program | None]:
    """Yield simpler programs, or None for a simplification that is not possible."""
    for size in (4, 2, 1):
        for start in reversed(range(len(steps) - size)):
            yield without(steps, set(range(start, start + size)))
    for number, step in enumerate(steps[:-1]):
        if step.args and isinstance(step.args[0], Ref):
            yield _bypassed(steps, number, step.args[0])
    for number, step in enumerate(steps):
        for other in _simpler_steps(step):
            yield [*steps[:number], other, *steps[number + 1 :]]


def _bypassed(steps: Program, number: int, source: Ref) -> Program | None:
    """Return a program in which an input of a step replaces its result."""

    def other(ref: Ref) -> Ref:
        return source if ref.step == number else ref

    changed = [
        replace(
            step, args=mapped(step.args, Ref, other), settings=mapped(step.settings, Ref, other)
        )
        for step in steps
    ]
    return without(changed, {number})


def _simpler_steps(step: Step) -> Iterator[Step]:
    if step.unrecorded:
        yield replace(step, unrecorded=False)
    for name in step.settings:
        if name != "dtype":
            yield replace(step, settings={k: v for k, v in step.settings.items() if k != name})
    if step.args and isinstance(step.args[0], Elements):
        for array in _simpler_arrays(step.args[0].array):
            simple = leaf(array, bool(step.settings.get("requires_grad")))
            yield simple
        return
    for i in reversed(range(1, len(step.args))):
        if not isinstance(step.args[i], Ref):
            if step.form.endswith("()"):
                yield replace(step, args=step.args[:i] + step.args[i + 1 :])
            for value in _simpler_values(step.args[i]):
                yield replace(step, args=(*step.args[:i], value, *step.args[i + 1 :]))


def _simpler_arrays(array: Array) -> Iterator[Array]:
    for dim, length in enumerate(array.shape):
        if length > 1:
            yield array.take(range(length // 2), dim)
            yield array.take(range(1, length), dim)
            yield array.take(range(length - 1), dim)
        elif length == 1:
            yield array[(slice(None),) * dim + (0,)]
    if array.dtype.kind == "f" and array.dtype != "float32":
        with np.errstate(all="ignore"):
            yield array.astype("float32")
    if array.dtype.kind == "i" and array.dtype != "int64":
        yield array.astype("int64")
    flat = array.reshape(-1)
    for value in (0, 1, 2):
        for i in range(flat.size):
            if flat[i] != value and not (flat[i] in {0, 1} and flat[i] < value):
                simple = flat.copy()
                simple[i] = value
                yield simple.reshape(array.shape)


def _simpler_values(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield from (small for small in (0, 1, -1) if abs(small) < abs(value))
    elif isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        for i, part in enumerate(value):
            yield type(value)([*value[:i], *value[i + 1 :]])
            for simple in _simpler_values(part):
                yield type(value)([*value[:i], simple, *value[i + 1 :]])
