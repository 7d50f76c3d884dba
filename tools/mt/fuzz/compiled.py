"""Compile a program, and compare it with eager execution.

The leaves of a program are the arguments of a function, and its other steps the body. It returns
values that no step uses, and some of the others, because values that are freed need not be computed
unchanged. The function is called three times: it is recorded, replayed with the elements reversed,
and replayed with the first ones again. All results are compared, their sharing of memory, the
arguments afterwards, and the gradients of the arguments. Programs that cannot be compiled are
counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import mt_tensor as mt
from mt.fuzz import running
from mt.fuzz.differences import (
    Difference,
    as_text,
    compare,
    elements_differ,
    first_difference,
    plain_error,
    same_answers,
    seen,
    sharing,
)
from mt.fuzz.libraries import Ours, plain, tensors_of
from mt.fuzz.programs import Elements, Step, is_leaf, without
from mt.fuzz.rounding import close
from mt.fuzz.running import Run, is_large
from mt_tensor.conformance.compiling import EVERY, backwards, small_as_large
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import CompileError, InPlaceError

OURS = Ours()
UNCOMPILED = "cannot be compiled"
REPLAYED = "replayed"
EAGER = "recorded again at each call"
COMPILED = (REPLAYED, EAGER, UNCOMPILED)
"""The categories of programs in the counts."""

CANCELLED = 1e-5
"""The allowed difference relative to the largest element, because sums may cancel."""


def made_up(seed: int, number: int) -> tuple[Run, Difference | None]:
    """Generate a program, and return how it differs when compiled."""
    return _compared(running.made_up(seed, number, with_torch=False)[0])


def run(steps: Sequence[Step], watched: bool = True) -> tuple[Run, Difference | None]:
    """Run a program eagerly, and then compiled."""
    return _compared(running.run(steps, watched, with_torch=False)[0])


@small_as_large()
def _compared(program: Run) -> tuple[Run, Difference | None]:
    """Compare the shortest prefix of a program that shows a difference."""
    undefined = {n for n, step in enumerate(program.steps) if "empty" in step.operation}
    steps = without(program.steps, program.refused | undefined)
    program.met = []
    if program.over or steps is None:
        return program, None
    difference = _difference(steps, program)
    if difference is None:
        return program, None
    for length in range(1, len(steps)):
        program.steps, program.refused = steps[:length], set()
        earlier = _difference(program.steps, program)
        if earlier is not None:
            return program, earlier
    program.steps = steps
    return program, difference


@dataclass
class Outcome:
    """The outcome of a call.

    Attributes:
        error: the exception that it raised, or None.
        values: its results by name, tensors and others.
        arguments: the tensors that it got, by name.
        gradients: the gradients of the arguments from all results together, or an exception.
    """

    error: Exception | None
    values: dict[str, Any]
    arguments: dict[str, Any]
    gradients: dict[str, Array | None] | Exception


def _difference(steps: list[Step], program: Run) -> Difference | None:
    """Return how a program differs when it is compiled."""
    given = [number for number, step in enumerate(steps) if is_leaf(step)]
    function = _function(steps, given)
    compiled = mt.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turned in (False, True, False):
            arguments = [_reversed(steps[n]) if turned else steps[n] for n in given]
            wanted = _outcome(function, given, arguments)
            found = _outcome(compiled, given, arguments)
            if isinstance(found.error, CompileError):
                program.met = [UNCOMPILED]
                return None
            if isinstance(wanted.gradients, InPlaceError) and not compiled.programs:
                break  # recording replaced memory that must not be changed
            difference = _compare(wanted, found) or (
                None if found.error is None else _half_done(given, arguments, wanted, found)
            )
            if difference is not None:
                return difference
    program.met = [REPLAYED if compiled.programs else EAGER]
    return None


def _function(steps: Sequence[Step], given: Sequence[int]) -> Callable[..., Any]:
    """Return a function of the given values that runs the other steps."""
    inside = [number for number in range(len(steps)) if number not in given]
    used = {ref.step for step in steps for ref in step.refs}
    named = [n for n in inside if not steps[n].form.endswith("]=")]
    shown = [f"v{n}=v{n}" for n in named if n not in used or n % EVERY == 0]
    body = [*(steps[n].text(n) for n in inside), f"return dict({', '.join(shown)})"]
    head = f"def program({', '.join(f'v{n}' for n in given)}):"
    names = OURS.names()
    exec(compile("\n    ".join([head, *body]), "<program>", "exec"), names)
    function: Callable[..., Any] = names["program"]
    return function


def _reversed(step: Step) -> Step:
    """Return a step that makes the same tensor with its elements reversed."""
    if not isinstance(step.args[0], Elements):
        return step
    return replace(step, args=(Elements(backwards(step.args[0].array)),))


def _tensors(given: Sequence[int], steps: Sequence[Step]) -> dict[str, Any]:
    """Return the tensors that leaf steps make, by name."""
    names = OURS.names()
    for number, step in zip(given, steps, strict=True):
        exec(step.text(number), names)
    return {f"v{number}": names[f"v{number}"] for number in given}


def _outcome(function: Callable[..., Any], given: Sequence[int], steps: Sequence[Step]) -> Outcome:
    """Call a function with new tensors, and return the outcome."""
    arguments = _tensors(given, steps)
    mt.manual_seed(0)
    try:
        values = function(*arguments.values())
    except Exception as error:  # noqa: BLE001 - errors of both sides are compared
        return Outcome(error, {}, arguments, {})
    try:
        gradients = _gradients(values, arguments)
    except Exception as error:  # noqa: BLE001 - errors of both sides are compared
        return Outcome(None, values, arguments, error)
    return Outcome(None, values, arguments, gradients)


def _gradients(values: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Array | None]:
    """Return the gradients of the arguments, with a different weight for each element."""
    tensors = [x for name, value in values.items() for x in _parts(name, value).values()]
    for x in tensors:
        if x.requires_grad and x.numel() and not is_large(x.shape):
            weights = np.linspace(0.5, 1.5, x.numel()).reshape(x.shape)
            (x.double() * mt.tensor(weights)).sum().backward(retain_graph=True)
    return {
        name: None if x.grad is None else np.array(OURS.array(x.grad))
        for name, x in arguments.items()
        if x.is_leaf
    }


def _parts(name: str, value: Any) -> dict[str, Any]:
    return tensors_of(name, value, OURS)


def _half_done(
    given: Sequence[int], steps: Sequence[Step], wanted: Outcome, found: Outcome
) -> Difference | None:
    """Return an argument that an error left neither unchanged, nor as in eager execution."""
    for name, before in _tensors(given, steps).items():
        now, then = OURS.array(found.arguments[name]), OURS.array(before)
        left = OURS.array(wanted.arguments[name])
        if now.tobytes() not in (then.tobytes(), left.tobytes()):
            return Difference("half done", name, as_text(now), as_text(then))
    return None


def _compare(wanted: Outcome, found: Outcome) -> Difference | None:
    """Return how two calls differ."""
    if wanted.error is not None or found.error is not None:
        return _errors("", found.error, wanted.error)
    for name, theirs in wanted.values.items():
        ours = found.values[name]
        if not same_answers(plain(ours, OURS), plain(theirs, OURS)):
            return Difference("parts", name, repr(ours), repr(theirs))
    mine, others = ({**_all(each.values), **each.arguments} for each in (found, wanted))
    told = not isinstance(wanted.gradients, Exception)  # which leaves only some gradients
    for name, theirs in others.items():
        if is_large(theirs.shape):
            continue
        a, b = seen(OURS, mine[name], told), seen(OURS, theirs, told)
        difference = compare(name, a, b) or _elements(name, a.array, b.array)
        if difference is not None:
            return difference
    groups = sharing(OURS, mine), sharing(OURS, others)
    if groups[0] != groups[1]:
        return Difference("memory", *first_difference(*groups))
    return _compare_gradients(wanted.gradients, found.gradients)


def _all(values: dict[str, Any]) -> dict[str, Any]:
    return {key: x for name, value in values.items() for key, x in _parts(name, value).items()}


def _compare_gradients(wanted: Any, found: Any) -> Difference | None:
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        ours, theirs = (x if isinstance(x, Exception) else None for x in (found, wanted))
        return _errors("gradients", ours, theirs)
    for name, theirs in wanted.items():
        ours = found[name]
        if (ours is None) != (theirs is None):
            return Difference("gradient", name, str(ours is not None), str(theirs is not None))
        if ours is not None:
            difference = _elements(f"{name}.grad", ours, theirs)
            if difference is not None:
                return difference
    return None


def _elements(name: str, ours: Array, theirs: Array) -> Difference | None:
    """Return how elements differ beyond the rounding of another order of operations."""
    if ours.tobytes() == theirs.tobytes():
        return None
    good = close(ours, theirs)
    if ours.dtype.kind == "f":
        with np.errstate(all="ignore"):
            finite = abs(theirs[np.isfinite(theirs)].astype(np.float64))
            off = abs(ours.astype(np.float64) - theirs.astype(np.float64))
        good = good | (off <= CANCELLED * finite.max(initial=0.0))
    return None if good.all() else elements_differ(name, ours, theirs, ~good)


def _errors(name: str, ours: Exception | None, theirs: Exception | None) -> Difference | None:
    if type(ours) is type(theirs):
        return None
    kind = "refused" if theirs is None else "accepted" if ours is None else "fault"
    return Difference(kind, name, plain_error(ours), plain_error(theirs))
