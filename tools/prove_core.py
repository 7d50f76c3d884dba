"""Prove from built wheels that the core of each stage trains with everything else deleted.

    hatch run core:prove                 build the wheels, then prove every stage that has a core
    hatch run core:prove mt-autodiff     prove only this one

For each training, the stage is installed into an empty environment. There, only `core/`,
`__init__.py` and `py.typed` of each package of this repository are kept. Then the training runs,
and fails unless the network has learned.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from check_layering import Environment, Wheel, build, find_wheels

from mt.errors import ToolError
from mt.programs import output
from mt.workspace import ROOT, Workspace

TRAININGS_FOLDER = Path(__file__).parent / "trainings"

KEPT = {"core", "__init__.py", "py.typed"}
"""The files that are kept of a package."""

LOCATE = "import sysconfig; print(sysconfig.get_path('purelib'))"


@dataclass(frozen=True)
class Training:
    """A script that trains with the core of a stage, and exits with an error if it fails.

    Attributes:
        stage: the short name of the stage.
        script: the file in `tools/trainings`.
        arguments: the arguments of the script, such as the name of a backend.
        also: further packages to install, of this repository or others.
    """

    stage: str
    script: str
    arguments: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


TRAININGS = (
    Training("autodiff", "moons.py"),
    Training("tensor", "moons_of_tensors.py", ("simple",)),
    Training("tensor", "moons_of_tensors.py", ("numpy",)),
    Training("fast", "moons_of_tensors.py", ("fast",)),
    Training("cuda", "moons_of_tensors.py", ("cuda",)),
    Training("nn", "digits.py", ("numpy",), ("scikit-learn",)),
    Training("nn", "digits.py", ("fast",), ("mt-fast", "scikit-learn")),
)
"""The trainings, one row for each stage and backend."""


def strip(package: Path) -> None:
    """Delete everything except the core of an installed package.

    Raises:
        ToolError: the package has no core.
    """
    if not (package / "core").is_dir():
        raise ToolError(f"{package} has no folder core/")
    for entry in package.iterdir():
        if entry.name in KEPT:
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def prove(workspace: Workspace, wheels: Sequence[Wheel], training: Training) -> str:
    """Train with the core of its stage alone, and return its output."""
    stage = workspace[training.stage]
    with tempfile.TemporaryDirectory(prefix="core-") as folder:
        environment = Environment(Path(folder, "environment"))
        for target in (stage.name, *training.also):
            environment.install(wheels, target)
        packages = Path(environment.run_program(LOCATE).strip())
        for each in workspace.stages.values():
            if (packages / each.import_name).is_dir():
                strip(packages / each.import_name)
        script = shutil.copy(TRAININGS_FOLDER / training.script, folder)
        return output([str(environment.python), "-I", script, *training.arguments], Path(folder))


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, train and print the results."""
    parser = argparse.ArgumentParser(description="Prove that the core of each stage trains alone.")
    parser.add_argument("package", nargs="*", help="prove only this package")
    parser.add_argument("--dist", type=Path, help="take the wheels in this folder; build nothing")
    options = parser.parse_args(arguments)
    try:
        workspace = Workspace.read()
        selected = {workspace[name].short for name in options.package or workspace.stages}
        if options.dist is None:
            build(ROOT / "dist")
        wheels = find_wheels(workspace, options.dist or ROOT / "dist")
        for training in TRAININGS:
            if training.stage in selected:
                name = " ".join((training.stage, training.script, *training.arguments))
                print(f"{name}: {prove(workspace, wheels, training).strip()}", flush=True)
    except ToolError as error:
        print(f"prove_core: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
