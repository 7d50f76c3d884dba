"""Build the distributions of a package, and prove its wheel in an empty environment."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from check_layering import Environment, Wheel
from prove_core import TRAININGS, TRAININGS_FOLDER

from mt.programs import ProgramError, output
from mt.release.state import ReleaseError
from mt.workspace import Stage, Workspace

UV = os.environ.get("HATCH_UV", "uv")

VERSIONS = """
import importlib.metadata, json
print(json.dumps({d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}))
"""
"""A program that prints the installed distributions."""


def build(stage: Stage, folder: Path) -> dict[str, str]:
    """Build the source distribution of a stage, and from it the wheel.

    Args:
        stage: The stage.
        folder: Where to write them. Its content is deleted.

    Returns:
        The SHA-256 hash of each file, by name.
    """
    shutil.rmtree(folder, ignore_errors=True)
    date = output(["git", "log", "-1", "--format=%ct"], stage.folder).strip()
    command = [UV, "build", "--quiet", "--out-dir", str(folder), str(stage.folder)]
    output(command, stage.folder, {**os.environ, "SOURCE_DATE_EPOCH": date})
    files = sorted([*folder.glob("*.tar.gz"), *folder.glob("*.whl")])
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def build_twice(stage: Stage, folder: Path) -> dict[str, str]:
    """Build the distributions of a stage, and compare them with those of a second build.

    Raises:
        ReleaseError: The two builds differ.
    """
    hashes = build(stage, folder)
    with tempfile.TemporaryDirectory(prefix="release-") as second:
        if build(stage, Path(second, "dist")) != hashes:
            raise ReleaseError(
                f"two builds of {stage.name} differ: its pyproject.toml must not set "
                "`reproducible = false`, and no build hook may depend on the time or the machine"
            )
    return hashes


def prove(workspace: Workspace, stage: Stage, folder: Path, sources: Sequence[str]) -> None:
    """Install a wheel in an empty environment, with all else from an index, and use it.

    Args:
        workspace: All stages.
        stage: The stage.
        folder: The folder with the wheel.
        sources: The options of `uv pip install` that select the index; by default PyPI.

    Raises:
        ReleaseError: The index does not have what the wheel needs, or the wheel has other contents.
        ProgramError: The package cannot be imported, or training with it fails.
    """
    (wheel,) = folder.resolve().glob("*.whl")
    if problems := list(Wheel(stage, wheel).problems()):
        raise ReleaseError("\n".join(problems))
    trainings = [
        training
        for training in TRAININGS
        if training.stage == stage.short and not workspace.stages.keys() & set(training.also)
    ]
    with tempfile.TemporaryDirectory(prefix="release-") as scratch:
        environment = Environment(Path(scratch, "environment"))
        python = str(environment.python)
        requirements = [str(wheel), *(name for training in trainings for name in training.also)]
        try:
            output(
                [UV, "pip", "install", "--python", python, *sources, *requirements], Path(scratch)
            )
        except ProgramError as error:
            raise ReleaseError(
                f"{wheel.name} cannot be installed with the published packages: release its "
                f"dependencies first, in the order of `hatch run mt release --order`\n{error}"
            ) from error
        found: dict[str, str] = json.loads(environment.run_program(VERSIONS))
        stages = [f"{name} {found[name]}" for name in workspace.stages if name in found]
        print(f"installed in an empty environment: {', '.join(stages)}", flush=True)
        environment.run_program(f"import {stage.import_name}")
        print(f"{stage.import_name} can be imported", flush=True)
        for training in trainings:
            script = str(TRAININGS_FOLDER / training.script)
            output([python, "-I", script, *training.arguments], Path(scratch))
            print(f"it trains: {' '.join((training.script, *training.arguments))}", flush=True)
