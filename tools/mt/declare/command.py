"""`mt declare`: the files that say which names there are: operators, functions, methods."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from mt.declare.deferred import deferred_names, import_all
from mt.declare.methods import declarations
from mt.declare.operators import with_operators
from mt.declare.package import package_names
from mt.errors import reported
from mt.workspace import ROOT, Workspace


def main(arguments: Sequence[str]) -> int:
    """Write the files, and say which."""
    parser = argparse.ArgumentParser(
        prog="mt declare",
        description="Write down which operators, functions and methods there are.",
    )
    parser.parse_args(arguments)
    with reported("declare"):
        for file, text in derived(Workspace.read()).items():
            file.write_text(text, encoding="utf-8")
            print(file.relative_to(ROOT))
    return 0


def derived(workspace: Workspace) -> dict[Path, str]:
    """Return the files that this command writes, with their texts."""
    library, source = workspace.library(), workspace["tensor"].source
    operators = workspace["operators"].folder / "README.md"
    modules = import_all(library)
    return {
        source / "__init__.pyi": package_names(),
        source / "declarations.pyi": declarations(library),
        source / "library" / "deferred_names.py": deferred_names(modules),
        operators: with_operators(operators.read_text(encoding="utf-8")),
    }
