"""Run the tests of a package on a random sample of mutants, with cosmic-ray.

hatch run mutation:sample mt-autodiff --sample 200 --seed 1
hatch run mutation:report mt-autodiff

The command works in a clone of the last commit below `build/mutation`, in which all tests of the
package run once, to record which lines each of them executes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mt.arguments import parser_of, positive
from mt.errors import ToolError, reported
from mt.mutation.mutants import drawn, equivalent
from mt.programs import output
from mt.workspace import ROOT, Workspace

WORK = ROOT / "build" / "mutation"
"""The folder of clones, and of the sessions of cosmic-ray."""

CONFIGURATION = "../../tools/mt/mutation/cosmic-ray.toml"
"""The settings of cosmic-ray, relative to the folder of a package."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Clone the workspace, draw mutants of a package, and run its tests on each."""
    from cosmic_ray.config import load_config
    from cosmic_ray.work_db import WorkDB, use_db

    parser = parser_of("hatch run mutation:sample", __doc__)
    parser.add_argument("package", help="the package to mutate")
    parser.add_argument("--sample", type=positive, default=200, metavar="N", help="mutants (200)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the sample (1)")
    options = parser.parse_args(arguments)
    with reported("mutation"):
        package = Workspace.read()[options.package].name
        clone, session = WORK / package, WORK / f"{package}.sqlite"
        folder = _prepare(clone, package)
        files = [CONFIGURATION, str(session)]
        session.unlink(missing_ok=True)
        _run(["cosmic-ray", "init", *files], clone, folder)
        with use_db(session, WorkDB.Mode.open) as database:
            os.chdir(folder)  # the files of mutants are relative to it
            kinds = re.compile("|".join(load_config(CONFIGURATION)["kinds"]))
            items = [
                item
                for item in database.work_items
                if kinds.fullmatch(item.mutations[0].operator_name.removeprefix("core/"))
            ]
            mutants = drawn(items, options.sample, options.seed, equivalent())
            database.clear()
            database.add_work_items(mutants)
        print(f"running the tests on {len(mutants)} mutants", flush=True)
        _run(["cosmic-ray", "exec", *files], clone, folder)
    return 0


def _prepare(clone: Path, package: str) -> Path:
    """Clone the last commit and record the tests of a package, or undo a mutation there.

    Returns:
        The folder of the package in the clone.
    """
    folder, recorded = clone / "packages" / package, clone / "build" / "recorded"
    head = output(["git", "rev-parse", "HEAD"])
    if recorded.is_file() and recorded.read_text("utf-8") == head:
        output(["git", "checkout", "--quiet", "."], clone)
        return folder
    shutil.rmtree(clone, ignore_errors=True)
    output(["git", "clone", "--quiet", "--shared", str(ROOT), str(clone)])
    measured = [f"--cov={folder}/src", "--cov-context=test", "--cov-report="]
    pytest = ["pytest", "-q", "-n", "auto", "--dist=worksteal", f"packages/{package}", *measured]
    _run([sys.executable, "-m", *pytest], clone, clone)
    _run(["cosmic-ray", "baseline", CONFIGURATION], clone, folder)
    recorded.write_text(head, encoding="utf-8")
    return folder


def _run(command: Sequence[str], clone: Path, folder: Path) -> None:
    """Run a command which imports the packages and tools from the clone.

    Raises:
        ToolError: it failed.
    """
    path = [clone / "tools", *sorted(clone.glob("packages/*/src"))]
    environment = {
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "MT_FAST_CACHE": str(clone / "build" / "kernels"),
        "NUMBA_CACHE_DIR": str(clone / "build" / "numba"),
    }
    status = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, check=False
    ).returncode
    if status:
        message = f"`{' '.join(command)}` failed with status {status}"
        raise ToolError(message)


if __name__ == "__main__":
    sys.exit(main())
