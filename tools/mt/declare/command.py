"""`mt declare`: the declarations of what `Tensor` has, written anew."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mt.declare.methods import declarations
from mt.errors import reported
from mt.workspace import ROOT, Workspace


def main(arguments: Sequence[str]) -> int:
    """Write the file, and say where."""
    parser = argparse.ArgumentParser(
        prog="mt declare",
        description="Write down, for type checkers and editors, which methods Tensor has.",
    )
    parser.parse_args(arguments)
    with reported("declare"):
        workspace = Workspace.read()
        file = workspace["tensor"].source / "declarations.pyi"
        file.write_text(declarations(workspace.library()), encoding="utf-8")
    print(file.relative_to(ROOT))
    return 0
