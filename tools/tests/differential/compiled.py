"""Compile a program, and compare it with eager execution.

The leaves of a program are the arguments of a function, and its other steps the body. It returns
values that no step uses, and some of the others, because values that are freed need not be computed
unchanged. The function is called three times: it is recorded, replayed with the elements reversed,
and replayed with the first ones again. All results are compared, and how they share memory, the
arguments after the call, and the gradients of the arguments. Programs that cannot be compiled are
counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import mt_tensor as mt
from differential import running
from differential.differences import (
    Difference,
    as_text,
    compare,
    elements_differ,
    first_difference,
    groups,
    plain_error,
    same_results,
)
from differential.libraries import Ours, namespace, plain, tensors_of
from differential.programs import Elements, Step, is_leaf, without
from differential.rounding import close
from differential.running import Run, is_large
from mt_tensor.conformance.compiling import EVERY, backwards, small_as_large
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import CompileError, InPlaceError

OURS = Ours()
REPLAYED = "replayed"
RECORDED = "recorded again at each call"
UNCOMPILED = "not compilable"
OUTCOMES = (REPLAYED, RECORDED, UNCOMPILED)
"""The outcomes of compiled programs without a difference."""

CANCELLED = 1e-5
"""The allowed difference relative to the largest element, because sums may cancel."""


def run_random(seed: int, number: int) -> Run:
    """Generate a program, run it eagerly, and compare it with compiled execution."""
    return _compared(running.run_random(seed, number, with_torch=False))


def run(steps: Sequence[Step], all_flags: bool = True) -> Run:
    """Run a program eagerly, and compare it with compiled execution."""
    return _compared(running.run(steps, all_flags, with_torch=False))


@small_as_large()
def _compared(program: Run) -> Run:
    """Compare a program; if there is a difference, keep the shortest prefix that shows one."""
    undefined = {n for n, step in enumerate(program.steps) if "empty" in step.operation}
    steps = without(program.steps, program.raised | undefined)
    program.known = []
    if program.over or steps is None:
        return program
    result = _compare(steps)
    if isinstance(result, str):
        program.known = [result]
        return program
    program.difference, program.steps, program.raised = result, steps, set()
    for length in range(1, len(steps)):
        earlier = _compare(steps[:length])
        if isinstance(earlier, Difference):
            program.difference, program.steps = earlier, steps[:length]
            break
    return program


def _compare(steps: list[Step]) -> Difference | str:
    """Return how a program differs when it is compiled, or one of `OUTCOMES`."""
    leaves = {number: step for number, step in enumerate(steps) if is_leaf(step)}
    function = _function(steps, leaves)
    call = mt.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for arguments in (leaves, {n: _reversed(leaf) for n, leaf in leaves.items()}, leaves):
            eager, compiled = _call(function, arguments), _call(call, arguments)
            if isinstance(compiled.error, CompileError):
                return UNCOMPILED
            if isinstance(eager.backward_error, InPlaceError) and not call.programs:
                break  # recording replaced memory that must not be changed
            difference = _compare_calls(compiled, eager)
            if difference is None and compiled.error is not None:
                difference = _half_done(compiled, eager, _tensors(arguments))
            if difference is not None:
                return difference
    return REPLAYED if call.programs else RECORDED


def _function(steps: Sequence[Step], leaves: Collection[int]) -> Callable[..., Any]:
    """Return a function of the leaves of a program that runs the other steps."""
    inside = [number for number in range(len(steps)) if number not in leaves]
    used = {ref.step for step in steps for ref in step.refs}
    named = [n for n in inside if not steps[n].form.endswith("]=")]
    returned = [f"v{n}=v{n}" for n in named if n not in used or n % EVERY == 0]
    body = [*(steps[n].text(n) for n in inside), f"return dict({', '.join(returned)})"]
    head = f"def program({', '.join(f'v{n}' for n in leaves)}):"
    names = namespace(OURS)
    exec(compile("\n    ".join([head, *body]), "<program>", "exec"), names)
    function: Callable[..., Any] = names["program"]
    return function


def _reversed(leaf: Step) -> Step:
    """Return a step that makes the same tensor with its elements reversed."""
    if not isinstance(leaf.args[0], Elements):
        return leaf
    return replace(leaf, args=(Elements(backwards(leaf.args[0].array)),))


def _tensors(leaves: Mapping[int, Step]) -> dict[str, Any]:
    """Return the tensors that steps make, by name."""
    names = namespace(OURS)
    for number, step in leaves.items():
        exec(step.text(number), names)
    return {f"v{number}": names[f"v{number}"] for number in leaves}


# --- Calls ----------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """The outcome of a call.

    Attributes:
        tensors: its results, arguments and their gradients, by name.
        results: other results, by name.
        error: the exception that it raised.
        backward_error: the exception that computing gradients raised.
    """

    tensors: dict[str, Any]
    results: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None
    backward_error: Exception | None = None


def _call(function: Callable[..., Any], leaves: Mapping[int, Step]) -> Outcome:
    """Call a function with new tensors, and compute the gradients of all results together."""
    arguments = _tensors(leaves)
    mt.manual_seed(0)
    try:
        values = function(*arguments.values())
    except Exception as error:  # noqa: BLE001 - errors of both sides are compared
        return Outcome(arguments, error=error)
    results = [tensors_of(name, value, OURS) for name, value in values.items()]
    tensors = {name: x for each in results for name, x in each.items()}
    outcome = Outcome(tensors | arguments, {name: plain(x, OURS) for name, x in values.items()})
    try:
        _backward(list(tensors.values()))
    except Exception as error:  # noqa: BLE001 - errors of both sides are compared
        outcome.backward_error = error
        return outcome
    for name, x in arguments.items():
        if x.is_leaf and x.grad is not None:
            outcome.tensors[f"{name}.grad"] = x.grad
    return outcome


def _backward(tensors: Sequence[Any]) -> None:
    """Compute gradients of tensors, with a different weight for each element."""
    for x in tensors:
        if x.requires_grad and x.numel() and not is_large(x.shape):
            weights = np.linspace(0.5, 1.5, x.numel()).reshape(x.shape)
            (x.double() * mt.tensor(weights)).sum().backward(retain_graph=True)


def _half_done(compiled: Outcome, eager: Outcome, before: dict[str, Any]) -> Difference | None:
    """Return a difference if an error left an argument partly changed."""
    for name, tensor in before.items():
        then, ours, theirs = (
            OURS.array(x) for x in (tensor, compiled.tensors[name], eager.tensors[name])
        )
        if ours.tobytes() not in (then.tobytes(), theirs.tobytes()):
            return Difference("half done", name, as_text(ours), as_text(then))
    return None


def _compare_calls(compiled: Outcome, eager: Outcome) -> Difference | None:
    """Return how a compiled call differs from an eager one."""
    if compiled.error is not None or eager.error is not None:
        return _compare_exceptions("", compiled.error, eager.error)
    for name, theirs in eager.results.items():
        ours = compiled.results[name]
        if not same_results(ours, theirs):
            return Difference("parts", name, repr(ours), repr(theirs))
    difference = _compare_exceptions("gradients", compiled.backward_error, eager.backward_error)
    if difference is not None:
        return difference
    flags = eager.backward_error is None  # an error leaves only some gradients
    for name, theirs in eager.tensors.items():
        if is_large(theirs.shape):
            continue
        ours = compiled.tensors[name]
        difference = compare(name, ours, theirs, flags) or _compare_elements(
            name, OURS.array(ours), OURS.array(theirs)
        )
        if difference is not None:
            return difference
    shared = _shared(compiled), _shared(eager)
    if shared[0] != shared[1]:
        return Difference("memory", *first_difference(*shared))
    return None


def _shared(outcome: Outcome) -> dict[str, str]:
    """Return how results and arguments share memory; that of gradients is not defined."""
    tensors = {name: x for name, x in outcome.tensors.items() if not name.endswith(".grad")}
    return groups(tensors, OURS.memory)


def _compare_elements(name: str, ours: Array, theirs: Array) -> Difference | None:
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


def _compare_exceptions(
    name: str, ours: Exception | None, theirs: Exception | None
) -> Difference | None:
    if type(ours) is type(theirs):
        return None
    kind = "refused" if theirs is None else "accepted" if ours is None else "fault"
    return Difference(kind, name, plain_error(ours), plain_error(theirs))
