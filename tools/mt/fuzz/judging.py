"""Known differences between libraries that are intended, with the reasons.

They are listed in `judged.toml`, each with a precise description. The list can only shrink: a test
limits its length, and a campaign counts the occurrences of each.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mt.fuzz.differences import KINDS, Difference
from mt.fuzz.programs import Source, Step, parts_of
from mt.tables import TableError, check_table, read_table
from mt_tensor.core.dtypes import Array

FILE = Path(__file__).with_name("judged.toml")


@dataclass(frozen=True)
class Scene:
    """The context of a difference.

    Attributes:
        steps: the program up to the step that shows it.
        before: the elements of all values before this step.
        after: the elements of all values after it, here.
        memory: for each value the first one that shares its memory.
        states: for each step the elements that it has changed.
    """

    steps: Sequence[Step]
    before: Mapping[str, Array]
    after: Mapping[str, Array] = field(default_factory=dict)
    memory: Mapping[str, str] = field(default_factory=dict)
    states: Sequence[Mapping[str, Array]] = ()

    @property
    def step(self) -> Step:
        """The step that shows the difference."""
        return self.steps[-1]

    @property
    def operands(self) -> list[Array]:
        """The elements of the step's operands before it."""
        return [self.before[name] for name in map(str, self.step.refs) if name in self.before]

    @property
    def integers(self) -> list[int]:
        """The integers among the arguments of the step."""
        return list(parts_of((self.step.args, self.step.settings), int))

    @property
    def met(self) -> list[Array]:
        """All elements in the program."""
        earlier = [array for state in self.states for array in state.values()]
        return [*earlier, *self.before.values(), *self.after.values()]

    def at(self, number: int) -> Scene:
        """Return the scene of an earlier step."""
        before: dict[str, Array] = {}
        for state in self.states[:number]:
            before |= state
        after = before | dict(self.states[number])
        return Scene(self.steps[: number + 1], before, after, self.memory, self.states[:number])

    def result(self, part: int) -> Array:
        """Return one of several results of the step."""
        return self.after[f"v{len(self.steps) - 1}[{part}]"].astype(np.float64)


Condition = Callable[[Scene], bool]


@dataclass(frozen=True)
class Judgement:
    """A known, intended difference.

    Attributes:
        name: its name.
        differences: the kinds of difference, keys of `KINDS`.
        operations: a regular expression for the names of operations.
        reason: why it is intended.
        ours: a regular expression for the start of our result.
        theirs: the same for torch's.
        after: a regular expression for the name of an earlier operation of the program.
        there: the names of `CONDITIONS` that hold at that operation.
        when: the names of `CONDITIONS` that hold at the difference.
        within: the maximum difference of elements.
    """

    name: str
    differences: tuple[str, ...]
    operations: str
    reason: str
    ours: str = ""
    theirs: str = ""
    after: str = ""
    there: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    within: float = math.inf

    def matches(self, scene: Scene, difference: Difference) -> bool:
        """Return whether a difference matches."""
        earlier = [step.operation for step in scene.steps]
        return (
            difference.kind in self.differences
            and re.fullmatch(self.operations, earlier[-1]) is not None
            and re.match(self.ours, difference.ours, re.DOTALL) is not None
            and re.match(self.theirs, difference.theirs, re.DOTALL) is not None
            and difference.off <= self.within
            and all(CONDITIONS[name](scene) for name in self.when)
            and (not self.after or any(self._is_after(scene, i) for i in range(len(earlier))))
        )

    def _is_after(self, scene: Scene, number: int) -> bool:
        """Return whether a step matches the earlier operation."""
        if re.fullmatch(self.after, scene.steps[number].operation) is None:
            return False
        return not self.there or all(CONDITIONS[name](scene.at(number)) for name in self.there)


def judgement_of(scene: Scene, difference: Difference) -> Judgement | None:
    """Return the first entry of the list that matches a difference; None if there is none."""
    return next((j for j in judgements() if j.matches(scene, difference)), None)


@functools.cache
def judgements(file: Path = FILE) -> tuple[Judgement, ...]:
    """Return the list.

    TableError: an entry is invalid.
        TableError: an entry is not what it should be.
    """
    found = []
    for entry in read_table(file).get("judged", []):
        name = entry.get("name", "?")
        check_table(
            name,
            entry,
            {"name": str, "differences": list, "operations": str, "reason": str},
            {
                "ours": str,
                "theirs": str,
                "after": str,
                "there": list,
                "when": list,
                "within": float,
            },
        )
        lists = {key: tuple(entry.get(key, [])) for key in ("differences", "there", "when")}
        for key, values in lists.items():
            known = KINDS if key == "differences" else CONDITIONS
            for value in values:
                if value not in known:
                    raise TableError(f"{name}: {key}: {value!r} is none of {', '.join(known)}.")
        found.append(Judgement(**{**entry, **lists}))
    return tuple(found)


# --- Conditions -----------------------------------------------------------------------------------


def _not_finite(arrays: Iterable[Array]) -> bool:
    return any(x.dtype.kind == "f" and not np.isfinite(x).all() for x in arrays)


def _beyond(limit: Callable[[float], float]) -> Condition:
    """Return a condition: a number is not finite, or exceeds a limit derived from its dtype."""

    def holds(scene: Scene) -> bool:
        types = {x.dtype for x in scene.operands if x.dtype.kind == "f"}
        given = np.array(list(parts_of((scene.step.args, scene.step.settings), float)))
        bound = min((limit(float(np.finfo(dtype).max)) for dtype in types), default=math.inf)
        return any(not (abs(x.astype(np.float64)) <= bound).all() for x in [*scene.operands, given])

    return holds


def _empty(scene: Scene) -> bool:
    """Return whether an operand, a result or a requested shape has no elements."""
    made = f"v{len(scene.steps) - 1}"
    results = [x for name, x in scene.after.items() if name.partition("[")[0] == made]
    asked = not scene.operands and 0 in scene.integers
    return asked or any(x.size == 0 for x in [*scene.operands, *results])


def _of_kinds(*kinds: str) -> Condition:
    return lambda scene: any(x.dtype.kind in kinds for x in scene.operands)


def _settings_not_finite(scene: Scene) -> bool:
    given = scene.step.args, scene.step.settings
    return not np.isfinite(list(parts_of(given, float))).all()


def _equal_elements(scene: Scene) -> bool:
    """Return whether two elements of an operand are equal, or one is nan."""
    floats = [x for x in scene.operands if x.dtype.kind == "f"]
    return any(np.isnan(x).any() or np.unique(x).size < x.size for x in floats)


def _short(scene: Scene) -> bool:
    """Return whether an operand has a vector shorter than a setting, or close to 0."""
    limit = max([1e-8, *parts_of((scene.step.args, scene.step.settings), float)])
    vectors = [
        np.linalg.norm(x.astype(np.float64), axis=d) for x in scene.operands for d in range(x.ndim)
    ]
    return any((length <= limit).any() for length in vectors)


def _about_one(scene: Scene) -> bool:
    floats = [x for x in scene.operands if x.dtype.kind == "f"]
    return any((abs(abs(x) - 1) < 1e-5).any() for x in floats)


def _changed_in_place(scene: Scene) -> bool:
    return any(re.search("_$|setitem", step.operation) for step in scene.steps)


def _alone(scene: Scene) -> bool:
    """Return whether no other value shares the memory of the first operand."""
    places = list(scene.memory.values())
    return places.count(scene.memory.get(str(scene.step.refs[0]), "")) == 1


def _blank_label(scene: Scene) -> bool:
    """Return whether a label of a sequence is the blank label."""
    args, settings = scene.step.args, scene.step.settings
    blank = args[4] if len(args) > 4 else settings.get("blank", 0)
    return bool((scene.operands[1] == blank).any())


def _not_sorted(scene: Scene) -> bool:
    """Return whether the sequence to search is not sorted."""
    row = scene.operands[1 if scene.step.operation == "bucketize" else 0]
    return "sorter" in scene.step.settings or not (row == np.sort(row)).all()


def _least_integer(scene: Scene) -> bool:
    whole = [x for x in scene.operands if x.dtype.kind == "i"]
    return any((x == np.iinfo(x.dtype).min).any() for x in whole)


def _huge_integer(scene: Scene) -> bool:
    whole = [x for x in scene.operands if x.dtype.kind in "iu"]
    return any(((x >= 2**31 - 1) | (x <= -(2**31))).any() for x in whole)


def _beyond_integers(scene: Scene) -> bool:
    floats = [x for x in scene.operands if x.dtype.kind == "f"]
    return any(not (abs(x) < 2**31).all() for x in floats)


def _overlapping(scene: Scene) -> bool:
    names = [str(ref) for ref in scene.step.refs]
    places = [scene.memory[name] for name in names if name in scene.memory]
    return len(set(places)) < len(places)


def _singular(scene: Scene) -> bool:
    """Return whether a matrix is singular up to rounding."""
    matrices = [np.nan_to_num(x.astype(np.float32)) for x in scene.operands if x.ndim > 1]
    return any((np.linalg.matrix_rank(x) < min(x.shape[-2:])).any() for x in matrices)


def _factors(scene: Scene) -> bool:
    """Return whether the results of a factorization are valid factors, which are not unique."""
    matrix = scene.operands[0].astype(np.float64)
    name = scene.step.operation.removeprefix("linalg.")
    first, second = scene.result(0), scene.result(1)
    if name == "qr":
        found, bases = first @ second, [first]
        if (np.tril(second, -1) != 0).any():
            return False
    elif name == "svd":
        third, few = scene.result(2), second.shape[-1]
        found = (first[..., :few] * second[..., None, :]) @ third[..., :few, :]
        bases = [first, third.swapaxes(-1, -2)]
    else:
        half = np.triu if "U" in (*scene.step.args, *scene.step.settings.values()) else np.tril
        diagonal = np.eye(matrix.shape[-1]) * matrix
        matrix = half(matrix) + half(matrix).swapaxes(-1, -2) - diagonal
        found = (second * first[..., None, :]) @ second.swapaxes(-1, -2)
        bases = [second]
    near = 1e-3 if scene.operands[0].dtype == np.float16 else 1e-5
    ones = [basis.swapaxes(-1, -2) @ basis for basis in bases]
    return np.allclose(found, matrix, near, near * (1 + abs(matrix).max(initial=0))) and all(
        np.allclose(product, np.eye(product.shape[-1]), near, near) for product in ones
    )


CONDITIONS: dict[str, Condition] = {
    "not finite": lambda scene: _not_finite(scene.operands),
    "infinity met": lambda scene: _not_finite(scene.met) or _settings_not_finite(scene),
    "extreme": _beyond(lambda largest: largest / 8),
    "squares overflow": _beyond(math.sqrt),
    "settings not finite": _settings_not_finite,
    "mixed": lambda scene: len({x.dtype for x in scene.operands}) > 1,
    "empty": _empty,
    "float16": lambda scene: any(x.dtype == np.float16 for x in scene.operands),
    "integers": _of_kinds("i", "u", "b"),
    "of one element": lambda scene: any(x.size == 1 for x in scene.operands),
    "not recorded": lambda scene: scene.step.unrecorded,
    "varied": lambda scene: scene.step.varied,
    "not sorted": _not_sorted,
    "least integer": _least_integer,
    "huge integers": _huge_integer,
    "beyond integers": _beyond_integers,
    "huge settings": lambda scene: any(abs(n) >= 1 << 31 for n in scene.integers),
    "overlapping": _overlapping,
    "alone in memory": _alone,
    "changed in place": _changed_in_place,
    "equal elements": _equal_elements,
    "short": _short,
    "about one": _about_one,
    "blank label": _blank_label,
    "reinterpreted": lambda scene: any(
        step.operation == "view" and any(parts_of((step.args, step.settings), Source))
        for step in scene.steps
    ),
    "singular": _singular,
    "factors": _factors,
}
"""The conditions on a step, and on the values before and after it, that entries may use."""
