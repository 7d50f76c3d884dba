"""Run typical torch programs on torch and on this project, and compare them step by step.

Each program takes `--out FILE` and writes its losses and final results to it, as arrays by name.
Each side runs all of them in a child process; only the imports of the programs differ.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mt.bench.libraries import environment
from mt.errors import ToolError
from mt.programs import Server
from mt.tables import check_table, read_table
from mt.workspace import ROOT

FOLDER = ROOT / "tools" / "tests" / "programs"

LIMITS = {"float32": 1e-5, "float64": 1e-12}
"""The maximum difference from torch's losses in each dtype; see `differences`."""

RESULTS = 10
"""The factor by which the differences of results, which come after all steps, may be larger."""

SIDES = ("torch", "mt_tensor")
"""The libraries that programs run with; for torch, the programs stay unchanged."""

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Program:
    """A sample program.

    Attributes:
        name: the name of its file.
        shows: what it does, and the features of torch that it uses.
        short: arguments for a short run.
        float64: the limit for losses in float64, if it is not that of `LIMITS`.
        why: the reason for this limit.
    """

    name: str
    shows: str
    short: tuple[str, ...]
    float64: float = LIMITS["float64"]
    why: str = ""

    @property
    def file(self) -> Path:
        """Its path."""
        return FOLDER / f"{self.name}.py"

    def allowed(self, dtype: str) -> float:
        """Return its limit in a dtype."""
        return self.float64 if dtype == "float64" else LIMITS[dtype]


@dataclass(frozen=True)
class Outcome:
    """The differences of a program from torch.

    Attributes:
        program: the program.
        allowed: the limit of the differences of losses.
        steps: the number of losses compared.
        loss: the largest difference of a loss.
        result: the largest difference of any other array.
        failure: why nothing was compared; empty on success.
    """

    program: Program
    allowed: float
    steps: int = 0
    loss: float = 0.0
    result: float = 0.0
    failure: str = ""

    @property
    def follows(self) -> bool:
        """Whether the program runs on this project, with differences within the limit."""
        return not self.failure and max(self.loss, self.result / RESULTS) <= self.allowed


def programs(names: Sequence[str] = ()) -> list[Program]:
    """Return the programs of these names, or all.

    Raises:
        TableError: the table is invalid.
        ToolError: a name is not that of a program.
    """
    known = {}
    for name, table in read_table(FOLDER / "programs.toml").items():
        optional = {"float64": float, "why": str}
        check_table(f"program {name!r}", table, {"shows": str, "short": list}, optional)
        known[name] = Program(name, **{**table, "short": tuple(table["short"])})
    for name in names:
        if name not in known:
            raise ToolError(f"there is no program {name!r}; the programs are {', '.join(known)}.")
    return [known[name] for name in names or known]


def compared(
    chosen: Sequence[Program], backend: str, dtype: str = "float32", *, short: bool = False
) -> Iterator[Outcome]:
    """Run programs on both sides at once, and compare the results.

    Args:
        chosen: the programs.
        backend: the backend of this project to run them on.
        dtype: the dtype that they compute in.
        short: whether to run each for a fraction of a second only.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sides = {
            library: stack.enter_context(_running(library, backend, dtype)) for library in SIDES
        }
        for program in chosen:
            allowed = program.allowed(dtype)
            arguments = program.short if short else ()
            files = [folder / f"{program.name}-{library}.npz" for library in sides]
            for file, side in zip(files, sides.values(), strict=True):
                side.request(json.dumps([str(program.file), *arguments, "--out", str(file)]))
            replies = [side.reply() or '"its process has ended"' for side in sides.values()]
            failure = next(filter(None, map(json.loads, replies)), "")
            if failure:
                yield Outcome(program, allowed, failure=failure)
                continue
            theirs, ours = map(load, files)
            far = differences(ours, theirs)
            others = [value for name, value in far.items() if name != "loss"]
            steps, result = len(theirs["loss"]), max(others, default=0.0)
            yield Outcome(program, allowed, steps, far["loss"], result)


def _running(library: str, backend: str, dtype: str) -> Server:
    """Start the process that runs the programs of a side, on one thread."""
    return Server("mt.port.running", [library, dtype], environment(library, backend, threads=1))


def load(file: Path) -> Arrays:
    """Return the arrays that a program has written."""
    with np.load(file) as arrays:
        return dict(arrays)


def differences(ours: Arrays, theirs: Arrays) -> dict[str, float]:
    """Return the difference of each array from torch's, relative to its largest number.

    It is infinite for different shapes, for nan on one side only, and for missing arrays.
    """
    return {name: _difference(ours.get(name), theirs.get(name)) for name in {**theirs, **ours}}


def _difference(ours: npt.NDArray[Any] | None, theirs: npt.NDArray[Any] | None) -> float:
    if ours is None or theirs is None or ours.shape != theirs.shape:
        return float("inf")
    x, y = ours.astype(np.float64), theirs.astype(np.float64)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if same.all():
        return 0.0
    if not (np.isfinite(x) | same).all() or not (np.isfinite(y) | same).all():
        return float("inf")
    return float(np.abs(x[~same] - y[~same]).max() / np.abs(y[np.isfinite(y)]).max(initial=1e-30))
