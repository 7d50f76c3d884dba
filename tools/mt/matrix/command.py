"""`mt matrix`: the jobs of continuous integration, every stage on every Python, or what changed.

mt matrix                      every stage
mt matrix mt-tensor            that stage and everything downstream of it
mt matrix --since origin/main  what the changes since then can break
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from mt.errors import reported
from mt.matrix.jobs import environments, jobs, output, stages_of_files, stages_of_names
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Print the matrix as one line of JSON, as GitHub Actions takes it for `strategy.matrix`."""
    parser = argparse.ArgumentParser(
        prog="mt matrix", description="Print the matrix of test jobs as JSON."
    )
    parser.add_argument("package", nargs="*", help="test this package and all that build on it")
    parser.add_argument("--since", metavar="REVISION", help="test what changes since can break")
    options = parser.parse_args(arguments)
    if options.package and options.since:
        parser.error("give either packages or --since, not both")

    with reported("matrix"):
        workspace = Workspace.read()
        if options.since:
            changed = output("git", "diff", "--name-only", f"{options.since}...HEAD").splitlines()
            wanted = stages_of_files(workspace, changed)
        else:
            wanted = stages_of_names(workspace, options.package or workspace.stages)
        matrix = {"include": jobs(workspace, environments(), wanted)}
    print(json.dumps(matrix, separators=(",", ":")))
    return 0
