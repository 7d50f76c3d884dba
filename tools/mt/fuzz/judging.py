"""What a judgement is: a kind of difference that is meant, and the reason.

They are entries of `judged.toml`. Each says precisely which differences it is about; a campaign of
`FULL` programs fails when it never meets one of them, so that the list can only shrink.
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
from mt_tensor.dtypes import Array

FILE = Path(__file__).with_name("judged.toml")
FULL = 100_000
"""So many programs meet every kind."""


@dataclass(frozen=True)
class Scene:
    """What a difference was seen in.

    Attributes:
        steps: the program up to the step that shows it.
        before: the elements of all values before this step.
        after: those of all values here.
        memory: for each value the first one that lies in the same memory.
    """

    steps: Sequence[Step]
    before: Mapping[str, Array]
    after: Mapping[str, Array] = field(default_factory=dict)
    memory: Mapping[str, str] = field(default_factory=dict)

    @property
    def step(self) -> Step:
        """The step that shows the difference."""
        return self.steps[-1]

    @property
    def operands(self) -> list[Array]:
        """The elements that the operands of the step had before it."""
        return [self.before[name] for name in map(str, self.step.refs) if name in self.before]

    @property
    def integers(self) -> list[int]:
        """The integers among the arguments of the step."""
        return list(parts_of((self.step.args, self.step.settings), int))

    def result(self, part: int) -> Array:
        """Return one of several results of the step."""
        return self.after[f"v{len(self.steps) - 1}[{part}]"].astype(np.float64)


Condition = Callable[[Scene], bool]


@dataclass(frozen=True)
class Judgement:
    """A kind of difference that is meant.

    Attributes:
        name: what it is called.
        differences: the kinds of difference, keys of `KINDS`.
        operations: an expression for the names of operations.
        reason: why it is meant.
        ours: an expression for our answer, which it begins with.
        theirs: an expression for torch's.
        after: an expression for the name of an earlier operation of the program.
        when: the names of `CONDITIONS` that hold.
        within: by how much elements may differ.
    """

    name: str
    differences: tuple[str, ...]
    operations: str
    reason: str
    ours: str = ""
    theirs: str = ""
    after: str = ""
    when: tuple[str, ...] = ()
    within: float = math.inf

    def matches(self, scene: Scene, difference: Difference) -> bool:
        """Return whether a difference is of this kind."""
        earlier = [step.operation for step in scene.steps]
        return (
            difference.kind in self.differences
            and re.fullmatch(self.operations, earlier[-1]) is not None
            and re.match(self.ours, difference.ours, re.DOTALL) is not None
            and re.match(self.theirs, difference.theirs, re.DOTALL) is not None
            and difference.off <= self.within
            and (not self.after or any(re.fullmatch(self.after, name) for name in earlier))
            and all(CONDITIONS[name](scene) for name in self.when)
        )


def judgement_of(scene: Scene, difference: Difference) -> Judgement | None:
    """Return the first entry of the list that a difference is of; None if it is of none."""
    return next((j for j in judgements() if j.matches(scene, difference)), None)


@functools.cache
def judgements(file: Path = FILE) -> tuple[Judgement, ...]:
    """Return the list.

    Raises:
        TableError: an entry is not what it should be.
    """
    found = []
    for entry in read_table(file).get("judged", []):
        name = entry.get("name", "?")
        check_table(
            name,
            entry,
            {"name": str, "differences": list, "operations": str, "reason": str},
            {"ours": str, "theirs": str, "after": str, "when": list, "within": float},
        )
        for key, known in (("differences", KINDS), ("when", CONDITIONS)):
            for value in entry.get(key, []):
                if value not in known:
                    raise TableError(f"{name}: {key}: {value!r} is none of {', '.join(known)}.")
        lists = {key: tuple(entry.get(key, [])) for key in ("differences", "when")}
        found.append(Judgement(**{**entry, **lists}))
    return tuple(found)


# --- Conditions -----------------------------------------------------------------------------------


def _not_finite(arrays: Iterable[Array]) -> bool:
    return any(x.dtype.kind == "f" and not np.isfinite(x).all() for x in arrays)


def _beyond(limit: Callable[[float], float]) -> Condition:
    """Return whether an element is not finite, or beyond a limit, which its type's largest sets."""

    def holds(scene: Scene) -> bool:
        floats = [x for x in scene.operands if x.dtype.kind == "f"]
        return any(not (abs(x) <= limit(float(np.finfo(x.dtype).max))).all() for x in floats)

    return holds


def _empty(scene: Scene) -> bool:
    """Return whether an operand, a result or a shape that is asked for has no elements."""
    made = f"v{len(scene.steps) - 1}"
    results = [x for name, x in scene.after.items() if name.partition("[")[0] == made]
    asked = not scene.operands and 0 in scene.integers
    return asked or any(x.size == 0 for x in [*scene.operands, *results])


def _of_kinds(*kinds: str) -> Condition:
    return lambda scene: any(x.dtype.kind in kinds for x in scene.operands)


def _settings_not_finite(scene: Scene) -> bool:
    given = scene.step.args, scene.step.settings
    return not np.isfinite(list(parts_of(given, float))).all()


def _not_sorted(scene: Scene) -> bool:
    """Return whether the numbers that are searched are not in order."""
    row = scene.operands[1 if scene.step.operation == "bucketize" else 0]
    return "sorter" in scene.step.settings or not (row == np.sort(row)).all()


def _least_integer(scene: Scene) -> bool:
    whole = [x for x in scene.operands if x.dtype.kind == "i"]
    return any((x == np.iinfo(x.dtype).min).any() for x in whole)


def _huge_integer(scene: Scene) -> bool:
    whole = [x for x in scene.operands if x.dtype.kind in "iu"]
    return any(((x >= 2**31 - 1) | (x <= -(2**31))).any() for x in whole)


def _overlapping(scene: Scene) -> bool:
    names = [str(ref) for ref in scene.step.refs]
    places = [scene.memory[name] for name in names if name in scene.memory]
    return len(set(places)) < len(places)


def _singular(scene: Scene) -> bool:
    """Return whether a matrix is singular but for rounding."""
    square = [x for x in scene.operands if x.ndim > 1 and x.shape[-1] == x.shape[-2]]
    ranks = [(np.linalg.matrix_rank(np.nan_to_num(x.astype(np.float32))), x) for x in square]
    return any((rank < x.shape[-1]).any() for rank, x in ranks)


def _factors(scene: Scene) -> bool:
    """Return whether the results of a factorization are factors, as good as others may be."""
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
    "infinity met": lambda scene: (
        _not_finite([*scene.before.values(), *scene.after.values()]) or _settings_not_finite(scene)
    ),
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
    "huge settings": lambda scene: any(abs(n) >= 1 << 31 for n in scene.integers),
    "overlapping": _overlapping,
    "reinterpreted": lambda scene: any(
        step.operation == "view" and any(parts_of((step.args, step.settings), Source))
        for step in scene.steps
    ),
    "singular": _singular,
    "factors": _factors,
}
"""What an entry may ask for of a step and of the values before and behind it."""
