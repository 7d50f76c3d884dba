"""`mt matrix`: list the jobs of CI, all of them or those that a change can break.

mt matrix                      all jobs: stages, Python and NumPy versions, backends
mt matrix mt-tensor            what a change of that package can break
mt matrix --since origin/main  what the changes since then can break
mt matrix --newest             only those with the newest Python and NumPy
mt matrix --full               also each conformance kit on every Python and NumPy
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from mt.errors import reported
from mt.matrix.environments import check, environments
from mt.matrix.jobs import Job, all_jobs, concerned, newest, stages_of_files
from mt.matrix.printing import table
from mt.programs import output
from mt.workspace import Workspace


def main(arguments: Sequence[str]) -> int:
    """Print the matrix: a table on a terminal, or one line of JSON for GitHub Actions."""
    parser = argparse.ArgumentParser(
        prog="mt matrix",
        description=(__doc__ or "").partition("\n")[0],
        epilog="The default is a table on a terminal, and JSON otherwise.",
    )
    parser.add_argument("package", nargs="*", help="list what a change of this package can break")
    parser.add_argument(
        "--since", metavar="REVISION", help="list what changes since this revision can break"
    )
    parser.add_argument(
        "--full", action="store_true", help="all combinations for the conformance kits"
    )
    parser.add_argument(
        "--newest", action="store_true", help="only jobs with the newest Python and NumPy"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--table", action="store_true", help="print a table")
    form.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    if options.package and options.since:
        parser.error("give either packages or --since, not both")

    with reported("matrix"):
        jobs = chosen(options.package, options.since, full=options.full)
        if options.newest:
            jobs = newest(jobs)
        if options.table or (sys.stdout.isatty() and not options.json):
            print(table(jobs))
        else:
            matrix = {"include": [job.as_json() for job in jobs]}
            print(json.dumps(matrix, separators=(",", ":")))
    return 0


def chosen(packages: Sequence[str], since: str | None, *, full: bool) -> list[Job]:
    """Return the selected jobs, after checking the environments of all.

    Args:
        packages: names of stages; empty for all.
        since: a Git revision, instead of names.
        full: whether to include all jobs.
    """
    workspace = Workspace.read()
    jobs = all_jobs(workspace)
    check(environments(), jobs)
    if since:
        files = output(["git", "diff", "--name-only", f"{since}...HEAD"]).splitlines()
        changed = stages_of_files(workspace, files)
    else:
        changed = [workspace[name] for name in packages or workspace.stages]
    return [job for job in concerned(jobs, changed) if full or job.essential]
