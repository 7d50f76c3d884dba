"""Run a program here and on torch, and compare both after every step.

After a step, torch's elements are set to ours, so that a rounding error shows only in the step that
caused it, and both libraries always compute from identical numbers. The memory layout of new
tensors is copied, too, because libraries may choose it. Without torch, steps are compared with
NumPy if it has an oracle for them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from mt.fuzz.differences import (
    Difference,
    as_text,
    compare,
    elements_differ,
    first_difference,
    identities,
    refusals,
    same_answers,
    seen,
    sharing,
    signs_differ,
)
from mt.fuzz.generating import Generator, Value
from mt.fuzz.judging import Scene, judgement_of
from mt.fuzz.libraries import Library, Names, Ours, Torch, lay_out, plain, tensors_of
from mt.fuzz.operations import has_signs, is_random
from mt.fuzz.oracles import expected
from mt.fuzz.programs import Ref, Step
from mt.fuzz.rounding import within_rounding
from mt_tensor.core.dtypes import Array

LARGEST = 50_000
"""The maximum size of values that are compared; random settings may make larger ones."""

PASSING = ("refused", "accepted", "fault")
"""The kinds of differences after which a program continues without the value."""


def torch_loaded() -> bool:
    """Return whether torch is installed, after importing it before memory is limited."""
    if find_spec("torch") is None:
        return False
    import_module("torch")
    return True


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
    """A program during its run.

    Attributes:
        ours: this project.
        theirs: torch, if it is installed.
        steps: the steps so far.
        refused: the numbers of steps that raised.
        elements: the elements of all values, by name.
        before: the elements before the last step.
        states: for each step the elements that it has changed.
        met: the names of the known differences that occurred.
        over: whether one of these, or a partial change by a step that raised, ends it.
        drawn: whether a gradient depends on random numbers.
        watched: whether to compare all flags after every step; reading the history of a value
            updates it, so half of the programs compare only new values.
    """

    def __init__(self, watched: bool = True, with_torch: bool = True) -> None:
        self.ours = Side(Ours())
        self.theirs = Side(Torch()) if with_torch and torch_loaded() else None
        for side in self.sides:
            side.names = side.library.names()
        self.steps: list[Step] = []
        self.refused: set[int] = set()
        self.elements: dict[str, Array] = {}
        self.before: dict[str, Array] = {}
        self.states: list[dict[str, Array]] = []
        self.met: list[str] = []
        self.over = self.drawn = False
        self.watched = watched

    @property
    def sides(self) -> list[Side]:
        """The libraries, this project first."""
        return [self.ours] if self.theirs is None else [self.ours, self.theirs]

    def follow(self, step: Step) -> Difference | None:
        """Run a step; return a difference that is not known.

        A program continues without a value if one side has raised, unless the step is in place; any
        other known difference ends it.
        """
        difference = self.step(step)
        if difference is None:
            return None
        known = judgement_of(self._scene(), difference)
        if known is None:
            return difference
        self.met.append(known.name)
        changing = step.operation.endswith(("_", "setitem", "backward"))
        self.over = difference.kind not in PASSING or changing or self._forget() is not None
        return None

    def _scene(self) -> Scene:
        values = self.ours.values.items()
        after = {name: self.ours.library.array(x) for name, x in values if not is_large(x.shape)}
        memory = sharing(self.ours.library, self.ours.values)
        return Scene(self.steps, self.before, after, memory, self.states)

    def step(self, step: Step) -> Difference | None:
        """Run a step on all sides; return the first difference."""
        name = f"v{len(self.steps)}"
        code = compile(step.text(len(self.steps)), f"<{name}>", "exec")
        self.steps.append(step)
        self.states.append({})
        self.before = dict(self.elements)
        fatal = judgement_of(self._scene(), Difference("crash", "", "", ""))
        if fatal is not None:
            self.met.append(fatal.name)
            self.over = True
            error = self.ours.run(code, name)
            return refusals(error, error)
        errors = [side.run(code, name) for side in self.sides]
        if any(errors):
            if any(isinstance(error, MemoryError) for error in errors):
                return self._forget()
            self.refused.add(len(self.steps) - 1)
            return self._compare_refused(errors)
        answers = [plain(side.names[name], side.library) for side in self.sides]
        if not all(same_answers(answers[0], other) for other in answers):
            return Difference("parts", name, repr(answers[0]), repr(answers[1]))
        new = tensors_of(name, self.ours.names[name], self.ours.library)
        if any(is_large(tensor.shape) for tensor in new.values()):
            return self._forget()
        self.drawn = self.drawn or (is_random(step) and any(x.requires_grad for x in new.values()))
        return self._compare(set(new)) or self._compare_with_numpy(step, name)

    def _compare_refused(self, errors: Sequence[BaseException | None]) -> Difference | None:
        """Compare the errors of a step; a step that raises here must not change anything.

        torch may have changed something before raising, which ends the program.
        """
        if errors[0] is not None:
            for name, value in self.ours.values.items():
                array, before = self.ours.library.array(value), self.before[name]
                if array.shape != before.shape or array.tobytes() != before.tobytes():
                    return Difference("half done", name, as_text(array), as_text(before))
        difference = refusals(errors[0], errors[-1])
        self.over = difference is None and self._compare(set()) is not None
        return difference

    def _forget(self) -> Difference | None:
        """Continue without the result of the last step; return a difference if others changed."""
        self.refused.add(len(self.steps) - 1)
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
            return refusals(None, error)
        if mine.keys() != other.keys():
            name = min(mine.keys() ^ other.keys())
            return Difference("gradient", name, str(name in mine), str(name in other))
        for name, value in mine.items():
            watched = self.watched or name in new
            difference = self._compare_value(self.theirs, name, value, other[name], watched)
            if difference is not None:
                return difference
        if new or self.steps[-1].operation == "backward":
            return self._compare_memory(self.theirs, mine, other, new)
        return None

    def _compare_value(
        self, theirs: Side, name: str, mine: Any, other: Any, watched: bool
    ) -> Difference | None:
        a, b = seen(self.ours.library, mine, watched), seen(theirs.library, other, watched)
        difference = compare(name, a, b)
        if difference is not None:
            return difference
        if a.array.tobytes() != b.array.tobytes():
            if not self._is_drawn(name):
                good = within_rounding(a.array, b.array, name, self.steps, self.states)
                if not good.all():
                    return elements_differ(name, a.array, b.array, ~good)
                if has_signs(self.steps[-1]) and signs_differ(a.array, b.array):
                    return Difference("zero", name, as_text(a.array), as_text(b.array))
            b.array[...] = a.array
        self._remember(name, a.array)
        return None

    def _is_drawn(self, name: str) -> bool:
        """Return whether each library has drawn its own random numbers for a value."""
        step = self.steps[-1]
        differentiated = name.endswith(".grad") or step.operation == "autograd.grad"
        return is_random(step) or (self.drawn and differentiated)

    def _remember(self, name: str, array: Array) -> None:
        known = self.elements.get(name)
        if known is None or known.shape != array.shape or known.tobytes() != array.tobytes():
            self.elements[name] = self.states[-1][name] = np.array(array)

    def _compare_memory(
        self, theirs: Side, mine: Any, other: Any, new: set[str]
    ) -> Difference | None:
        groups = sharing(self.ours.library, mine), sharing(theirs.library, other)
        if groups[0] != groups[1]:
            return Difference("memory", *first_difference(*groups))
        same = identities(self.ours.values), identities(theirs.values)
        if same[0] != same[1]:
            return Difference("identity", *first_difference(*same))
        for name in new:
            if list(groups[0].values()).count(groups[0].get(name, "")) == 1:
                lay_out(other[name], mine[name].stride())
        return None

    def _compare_with_numpy(self, step: Step, name: str) -> Difference | None:
        wanted = expected(step, self.before) if self.theirs is None else None
        found = self.elements.get(name)
        if wanted is None or found is None:
            return None
        values, allowed = wanted
        if found.shape != values.shape:
            return Difference("shape", name, str(found.shape), f"NumPy: {values.shape}")
        if found.dtype != np.float64 or (abs(found - values) <= allowed).all():
            return None
        return Difference("values", name, as_text(found), f"NumPy: {as_text(values)}")


def run(
    steps: Sequence[Step], watched: bool = True, with_torch: bool = True
) -> tuple[Run, Difference | None]:
    """Run a program to its end, or to its first difference that is not known."""
    return _run(Run(watched, with_torch), lambda _: iter(steps))


def made_up(seed: int, number: int, with_torch: bool = True) -> tuple[Run, Difference | None]:
    """Generate a program, and run it to its end, or to a difference that is not known."""
    generator = Generator(seed, number)

    def steps(program: Run) -> Iterator[Step]:
        for _ in range(generator.length):
            yield from generator.next_steps(len(program.steps), program.described())

    return _run(Run(generator.draw.chance(0.5), with_torch), steps)


def _run(program: Run, steps: Callable[[Run], Iterator[Step]]) -> tuple[Run, Difference | None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in steps(program):
            difference = program.follow(step)
            if difference is not None or program.over:
                return program, difference
    return program, None
