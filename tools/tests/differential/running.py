"""Run a program with this project and with torch, and compare both after every step.

After a step, torch's elements are set to ours, so that a rounding error shows only in the step that
caused it, and both libraries always compute from identical numbers. The memory layout of new
tensors is copied, too, because libraries may choose it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from differential.conditions import Context
from differential.differences import (
    Difference,
    as_text,
    compare,
    compare_errors,
    elements_differ,
    first_difference,
    groups,
    same_results,
    signs_differ,
)
from differential.generating import Generator, Value
from differential.known import known_difference
from differential.libraries import (
    Library,
    Names,
    Ours,
    Torch,
    lay_out,
    namespace,
    plain,
    tensors_of,
)
from differential.operations import has_signs, is_random
from differential.programs import Ref, Step
from differential.rounding import within_rounding
from mt_tensor.core.dtypes import Array

LARGEST = 50_000
"""The maximum size of values that are compared; random settings may make larger ones."""

ERRORS = ("refused", "accepted", "fault")
"""The kinds of differences after which a program continues without the value."""


def is_large(shape: Sequence[int]) -> bool:
    """Return whether values of a shape are too large to be compared."""
    return math.prod(size or 1 for size in shape) > LARGEST


@dataclass
class Side:
    """A library with the values of a program.

    Attributes:
        library: the library.
        names: the namespace of the program.
        values: the tensors among them.
    """

    library: Library
    names: Names = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def run(self, code: Any, name: str) -> BaseException | None:
        """Run a line, and return the error that it raises."""
        try:
            exec(code, self.names)
        except Exception as error:  # noqa: BLE001 - errors of both sides are compared
            return error
        self.names.setdefault(name, None)
        self.values |= tensors_of(name, self.names[name], self.library)
        return None

    def forget(self, name: str) -> None:
        """Delete the value of a name."""
        self.names.pop(name, None)
        for value in [value for value in self.values if value.partition("[")[0] == name]:
            del self.values[value]

    def all_values(self) -> dict[str, Any]:
        """Return all values, and the gradients of leaves."""
        found = dict(self.values)
        for name, value in self.values.items():
            if value.is_leaf and value.grad is not None:
                found[f"{name}.grad"] = value.grad
        return found


class Run:
    """A program during and after its run.

    Attributes:
        ours: this project.
        theirs: torch; None to run the program with this project only.
        steps: the steps so far.
        raised: the numbers of steps without a result, most of which raised an error.
        elements: the elements of all values, by name.
        before: the elements before the last step.
        states: for each step the elements that it has changed.
        known: the names of the known differences that occurred.
        difference: the difference that ended the program; None if there was none.
        over: whether something else has ended it: a known difference, or a partial change.
        random: whether a gradient depends on random numbers.
        all_flags: whether to compare the flags of all values after every step, and not only those
            of new values. Reading the history of a value updates it, which hides mistakes.
    """

    def __init__(self, all_flags: bool = True, with_torch: bool = True) -> None:
        self.ours = Side(Ours())
        self.theirs = Side(Torch()) if with_torch else None
        for side in self.sides:
            side.names = namespace(side.library)
        self.steps: list[Step] = []
        self.raised: set[int] = set()
        self.elements: dict[str, Array] = {}
        self.before: dict[str, Array] = {}
        self.states: list[dict[str, Array]] = []
        self.known: list[str] = []
        self.difference: Difference | None = None
        self.over = self.random = False
        self.all_flags = all_flags

    @property
    def sides(self) -> list[Side]:
        """The libraries, this project first."""
        return [self.ours] if self.theirs is None else [self.ours, self.theirs]

    def step(self, step: Step) -> None:
        """Run a step on all sides, and compare them.

        A program continues without a value if one side has raised, unless the step is in place; any
        other known difference ends it.
        """
        difference = self._run(step)
        if difference is None:
            return
        known = known_difference(self._context(), difference)
        if known is None:
            self.difference = difference
            return
        self.known.append(known.name)
        changing = step.operation.endswith(("_", "setitem", "backward"))
        self.over = difference.kind not in ERRORS or changing or self._forget() is not None

    def _context(self) -> Context:
        values = self.ours.values.items()
        after = {name: self.ours.library.array(x) for name, x in values if not is_large(x.shape)}
        memory = groups(self.ours.values, self.ours.library.memory)
        return Context(self.steps, self.before, after, memory, self.states)

    def _run(self, step: Step) -> Difference | None:
        """Run a step on all sides; return the first difference."""
        name = f"v{len(self.steps)}"
        code = compile(step.text(len(self.steps)), f"<{name}>", "exec")
        self.steps.append(step)
        self.states.append({})
        self.before = dict(self.elements)
        crash = known_difference(self._context(), Difference("crash", "", "", ""))
        if crash is not None:
            self.known.append(crash.name)
            self.over = True
            error = self.ours.run(code, name)
            return compare_errors(error, error)
        errors = [side.run(code, name) for side in self.sides]
        if any(errors):
            if any(isinstance(error, MemoryError) for error in errors):
                return self._forget()
            self.raised.add(len(self.steps) - 1)
            return self._compare_errors(errors)
        results = [plain(side.names[name], side.library) for side in self.sides]
        if not all(same_results(results[0], other) for other in results):
            return Difference("parts", name, repr(results[0]), repr(results[1]))
        new = tensors_of(name, self.ours.names[name], self.ours.library)
        if any(is_large(tensor.shape) for tensor in new.values()):
            return self._forget()
        self.random |= is_random(step) and any(x.requires_grad for x in new.values())
        return self._compare(set(new))

    def _compare_errors(self, errors: Sequence[BaseException | None]) -> Difference | None:
        """Compare the errors of a step; a step that raises here must not change anything.

        torch may have changed something before raising, which ends the program.
        """
        if errors[0] is not None:
            for name, value in self.ours.values.items():
                array, before = self.ours.library.array(value), self.before[name]
                if array.shape != before.shape or array.tobytes() != before.tobytes():
                    return Difference("half done", name, as_text(array), as_text(before))
        difference = compare_errors(errors[0], errors[-1])
        self.over = difference is None and self._compare(set()) is not None
        return difference

    def _forget(self) -> Difference | None:
        """Continue without the result of the last step; return a difference if others changed."""
        self.raised.add(len(self.steps) - 1)
        for side in self.sides:
            side.forget(f"v{len(self.steps) - 1}")
        return self._compare(set())

    def described(self) -> list[Value]:
        """Return the known properties of all values, for generating the next step."""
        found = []
        for name in self.ours.values:
            step, _, part = name.removeprefix("v").partition("[")
            ref = Ref(int(step), int(part[:-1]) if part else None)
            array, tensor = self.elements[name], self.sides[-1].values[name]
            found.append(Value(ref, array.shape, array.dtype.name, bool(tensor.requires_grad)))
        return found

    # --- Comparing ------------------------------------------------------------------------------

    def _compare(self, new: set[str]) -> Difference | None:
        """Compare all values; torch's elements are then set to ours."""
        try:
            mine = self.ours.all_values()
        except Exception as error:  # noqa: BLE001 - reading values must not raise
            return Difference("fault", "", f"{type(error).__name__}: {error}", "can be looked at")
        if self.theirs is None:
            for name, value in mine.items():
                self._remember(name, self.ours.library.array(value))
            return None
        try:
            other = self.theirs.all_values()
        except RuntimeError as error:  # a view that torch no longer allows to be used
            return compare_errors(None, error)
        if mine.keys() != other.keys():
            name = min(mine.keys() ^ other.keys())
            return Difference("gradient", name, str(name in mine), str(name in other))
        for name, value in mine.items():
            flags = self.all_flags or name in new
            difference = self._compare_value(self.theirs, name, value, other[name], flags)
            if difference is not None:
                return difference
        if new or self.steps[-1].operation == "backward":
            return self._compare_memory(self.theirs, mine, other, new)
        return None

    def _compare_value(
        self, theirs: Side, name: str, mine: Any, other: Any, flags: bool
    ) -> Difference | None:
        difference = compare(name, mine, other, flags)
        if difference is not None:
            return difference
        a, b = self.ours.library.array(mine), theirs.library.array(other)
        if a.tobytes() != b.tobytes():
            if not self._is_random(name):
                good = within_rounding(a, b, name, self.steps, self.states)
                if not good.all():
                    return elements_differ(name, a, b, ~good)
                if has_signs(self.steps[-1]) and signs_differ(a, b):
                    return Difference("zero", name, as_text(a), as_text(b))
            b[...] = a
        self._remember(name, a)
        return None

    def _is_random(self, name: str) -> bool:
        """Return whether each library has drawn its own random numbers for a value."""
        step = self.steps[-1]
        differentiated = name.endswith(".grad") or step.operation == "autograd.grad"
        return is_random(step) or (self.random and differentiated)

    def _remember(self, name: str, array: Array) -> None:
        known = self.elements.get(name)
        if known is None or known.shape != array.shape or known.tobytes() != array.tobytes():
            self.elements[name] = self.states[-1][name] = np.array(array)

    def _compare_memory(
        self, theirs: Side, mine: Any, other: Any, new: set[str]
    ) -> Difference | None:
        shared = groups(mine, self.ours.library.memory)
        theirs_shared = groups(other, theirs.library.memory)
        if shared != theirs_shared:
            return Difference("memory", *first_difference(shared, theirs_shared))
        same, theirs_same = groups(self.ours.values, id), groups(theirs.values, id)
        if same != theirs_same:
            return Difference("identity", *first_difference(same, theirs_same))
        for name in new:
            if list(shared.values()).count(shared.get(name, "")) == 1:
                lay_out(other[name], mine[name].stride())
        return None


def run(steps: Sequence[Step], all_flags: bool = True, with_torch: bool = True) -> Run:
    """Run a program to its end, or to its first difference that is not known."""
    return _run(Run(all_flags, with_torch), lambda _: iter(steps))


def run_random(seed: int, number: int, with_torch: bool = True) -> Run:
    """Generate a program, and run it to its end, or to a difference that is not known."""
    generator = Generator(seed, number)

    def steps(program: Run) -> Iterator[Step]:
        for _ in range(generator.length):
            yield from generator.next_steps(len(program.steps), program.described())

    return _run(Run(generator.draw.chance(0.5), with_torch), steps)


def _run(program: Run, steps: Callable[[Run], Iterator[Step]]) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in steps(program):
            program.step(step)
            if program.difference is not None or program.over:
                break
    return program
