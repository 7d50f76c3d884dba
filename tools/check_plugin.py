"""Prove that a third-party backend in a separate package plugs in.

    hatch run layering:plugins        with the wheels in dist/, built by `layering:check`

In an empty environment, from built wheels:

1. `examples/mt-lists` is copied out of the repository, installed, discovered and used.
2. It passes the whole conformance kit.
3. A broken package and one that claims a taken name are reported, without affecting others.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from check_layering import Environment, LayeringError, Wheel, find_wheels

from mt.errors import ToolError
from mt.programs import output
from mt.workspace import ROOT, Workspace

EXAMPLE = ROOT / "examples" / "mt-lists"

PROBE = "from mt_tensor.backends.__main__ import main; main(['--probe'])"

USE = """
import mt_tensor as mt
x = mt.tensor([[1.0, 2.0], [3.0, 4.0]], backend="lists", requires_grad=True)
(x @ x).tanh().sum().backward()
assert x.grad.backend.name == "lists"
with mt.use_backend("lists"):
    assert mt.ones(2).backend.name == "lists"
assert mt.ones(2).backend.name == "numpy"
"""

REFUSED = """
import sys
import mt_tensor as mt
try:
    mt.get_backend(sys.argv[1])
except mt.errors.BackendError as error:
    print(type(error).__name__, error)
assert mt.ones(2, backend="lists").tolist() == mt.ones(2).tolist()
"""


def require(holds: bool, claim: str, seen: str) -> None:
    """Print a claim if it holds.

    Raises:
        LayeringError: It does not hold; the message contains the output.
    """
    if not holds:
        message = f"this claim does not hold: {claim}:\n{seen}"
        raise LayeringError(message)
    print(f"  ok      {claim}", flush=True)


def write_package(folder: Path, distribution: str, backend: str, source: str) -> Path:
    """Write the source tree of a package that registers a backend, and return its folder."""
    package = shutil.copytree(EXAMPLE, folder / distribution)
    settings = package / "pyproject.toml"
    text = settings.read_text().replace('name = "mt-lists"', f'name = "{distribution}"')
    module = distribution.replace("-", "_")
    text = text.replace('lists = "mt_lists:', f'{backend} = "{module}:')
    settings.write_text(text.replace("src/mt_lists", f"src/{module}"))
    shutil.move(package / "src" / "mt_lists", package / "src" / module)
    (package / "src" / module / "__init__.py").write_text(source)
    return package


def prove(wheels: Sequence[Wheel], folder: Path) -> None:
    """Check every claim in a new environment in `folder`."""
    environment = Environment(folder / "environment")
    environment.install(wheels, "mt-tensor[conformance]")
    environment.install(wheels, "pytest-xdist")  # optional, halves the time of the kit
    environment.install(wheels, str(shutil.copytree(EXAMPLE, folder / "mt-lists")))
    probe = environment.run_program(PROBE)
    require(
        re.search(r"^lists +mt-lists +0\.1\.0 +ready$", probe, re.MULTILINE) is not None,
        "a backend in a package outside the repository is discovered",
        probe,
    )
    environment.run_program(USE)
    require(True, "it is used: tensors are created, computed, differentiated and selected", "")
    command = [str(environment.python), "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-n", "auto", "--dist", "worksteal"]
    command += ["--pyargs", "mt_tensor.conformance", "--mt-backend", "lists"]
    summary = output(command, folder).splitlines()[-1]
    require(" passed" in summary, f"it passes the conformance kit: {summary}", summary)

    broken = write_package(folder, "mt-broken", "shaky", "raise RuntimeError('half installed')\n")
    environment.install(wheels, str(broken))
    reported = environment.run_program(REFUSED, "shaky")
    require(
        all(part in reported for part in ("BackendLoadError", "mt-broken 0.1.0", "half installed")),
        "a broken backend is reported when it is used, without affecting others",
        reported,
    )
    probe = environment.run_program(PROBE)
    require("broken: " in probe, "the probe shows it as broken", probe)

    source = (EXAMPLE / "src" / "mt_lists" / "__init__.py").read_text()
    environment.install(wheels, str(write_package(folder, "mt-rival", "lists", source)))
    reported = environment.run_program(
        REFUSED.replace('backend="lists"', 'backend="numpy"'), "lists"
    )
    require(
        "AmbiguousBackendError" in reported and "mt-lists" in reported and "mt-rival" in reported,
        "two distributions that claim one name are both named",
        reported,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check every claim, and print the results."""
    parser = argparse.ArgumentParser(description="Prove that other people's backends plug in.")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the wheels are")
    options = parser.parse_args(arguments)
    try:
        wheels = find_wheels(Workspace.read(), options.dist)
        with tempfile.TemporaryDirectory(prefix="plugin-") as folder:
            prove(wheels, Path(folder))
    except ToolError as error:
        print(f"check_plugin: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
