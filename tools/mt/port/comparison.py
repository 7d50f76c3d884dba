"""Programs as people write them for torch, run there and here, and compared step by step.

Each program takes `--out FILE` and writes its losses and what it has computed in the end there, as
arrays by name. Here it runs with other import lines, in a process of its own as there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mt.errors import ToolError
from mt.port.imports import ported, read
from mt.tables import check_table, read_table

FOLDER = Path(__file__).parent / "programs"

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Program:
    """A program of the folder.

    Attributes:
        name: that of its file.
        shows: what it does, and with what of torch.
        short: arguments for a short run.
        allowed: how far losses and results may be from torch's; see `differences`.
        why: why so far.
    """

    name: str
    shows: str
    short: tuple[str, ...]
    allowed: float
    why: str

    @property
    def file(self) -> Path:
        """Where it stands."""
        return FOLDER / f"{self.name}.py"


@dataclass(frozen=True)
class Outcome:
    """How far a program is from torch here.

    Attributes:
        program: which.
        steps: how many losses were compared.
        loss: the largest difference of a loss.
        result: the largest difference of anything else.
        failure: why there is nothing to compare; "" if there is.
    """

    program: Program
    steps: int = 0
    loss: float = 0.0
    result: float = 0.0
    failure: str = ""

    @property
    def follows(self) -> bool:
        """Whether it runs here, and does not differ by more than it may."""
        return not self.failure and max(self.loss, self.result) <= self.program.allowed


def programs(names: Sequence[str] = ()) -> list[Program]:
    """Return the programs of these names, or all.

    Raises:
        TableError: the table is not what it should be.
        ToolError: there is no program of a name.
    """
    known = {}
    for name, table in read_table(FOLDER / "programs.toml").items():
        needed = {"shows": str, "short": list, "allowed": float, "why": str}
        check_table(f"program {name!r}", table, needed)
        known[name] = Program(name, **{**table, "short": tuple(table["short"])})
    for name in names:
        if name not in known:
            raise ToolError(f"there is no program {name!r}; there are {', '.join(known)}.")
    return [known[name] for name in names or known]


def compared(program: Program, backend: str, *, short: bool = False) -> Outcome:
    """Run a program on both sides at once, and compare what it has written.

    Args:
        program: which.
        backend: what it runs on here.
        short: whether for a second only.
    """
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as both:
        arguments = program.short if short else ()
        here = Path(folder, program.file.name)
        here.write_text(ported(*read(program.file)), encoding="utf-8")
        sides = [
            both.submit(_written, file, arguments, Path(folder, f"{side}.npz"), backend)
            for side, file in (("torch", program.file), ("here", here))
        ]
        try:
            theirs, ours = (side.result() for side in sides)
        except ToolError as error:
            return Outcome(program, failure=str(error))
    far = differences(ours, theirs)
    others = [value for name, value in far.items() if name != "loss"]
    return Outcome(program, len(theirs["loss"]), far["loss"], max(others, default=0.0))


def _written(file: Path, arguments: Sequence[str], out: Path, backend: str) -> Arrays:
    """Run a program and return the arrays that it writes.

    Raises:
        ToolError: it fails; says how.
    """
    command = [sys.executable, str(file), *arguments, "--out", str(out)]
    environment = {**os.environ, "MT_BACKEND": backend}
    done = subprocess.run(
        command, cwd=out.parent, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ToolError((done.stderr.strip() or "it ended without a word").splitlines()[-1])
    with np.load(out) as arrays:
        return dict(arrays)


def differences(ours: Arrays, theirs: Arrays) -> dict[str, float]:
    """Return how far each array is from torch's, relative to the largest number in that.

    Infinity stands for another shape, for nan on one side only, and for an array that is missing.
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
