"""Run typical torch programs there and here, and compare them step by step.

Each program takes `--out FILE` and writes its losses and final results to it, as arrays by name.
Both versions run in child processes; only their imports differ.
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
    """A sample program.

    Attributes:
        name: the name of its file.
        shows: what it does, and the features of torch that it uses.
        short: arguments for a short run.
        allowed: the maximum difference from torch's losses and results; see `differences`.
        why: the reason for this limit.
    """

    name: str
    shows: str
    short: tuple[str, ...]
    allowed: float
    why: str

    @property
    def file(self) -> Path:
        """Its path."""
        return FOLDER / f"{self.name}.py"


@dataclass(frozen=True)
class Outcome:
    """The differences of a program from torch.

    Attributes:
        program: the program.
        steps: the number of losses compared.
        loss: the largest difference of a loss.
        result: the largest difference of any other array.
        failure: why nothing was compared; empty on success.
    """

    program: Program
    steps: int = 0
    loss: float = 0.0
    result: float = 0.0
    failure: str = ""

    @property
    def follows(self) -> bool:
        """Whether it runs here, with differences within the limit."""
        return not self.failure and max(self.loss, self.result) <= self.program.allowed


def programs(names: Sequence[str] = ()) -> list[Program]:
    """Return the programs of these names, or all.

    Raises:
        TableError: the table is invalid.
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
    """Run a program on both sides at once, and compare the results.

    Args:
        program: the program.
        backend: the backend to run it on here.
        short: whether to run it for a second only.
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
        ToolError: it fails; the message is the last line of its stderr.
    """
    command = [sys.executable, str(file), *arguments, "--out", str(out)]
    environment = {**os.environ, "MT_BACKEND": backend}
    done = subprocess.run(
        command, cwd=out.parent, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ToolError((done.stderr.strip() or "it failed without output").splitlines()[-1])
    with np.load(out) as arrays:
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
