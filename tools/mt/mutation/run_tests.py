"""Run the tests that are most likely to detect the mutation in this clone: `test-command`.

They are ordered by how close to the mutated line each comes, as recorded by coverage.py: first
those that execute it, one of each test function and then the next, then those that execute other
lines of its file, lines of its folder, and all others. So tests are found, too, for code that
coverage does not see: functions that Numba compiles, and results that are computed once.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import sys
from collections import Counter
from pathlib import Path

from coverage import CoverageData

from mt.programs import output
from mt.workspace import ROOT

TESTS = 400
"""The maximum number of tests for a mutant."""

MEMORY = 16 * 2**30
"""The limit of the address space in bytes, so that a mutant cannot exhaust the machine."""

SECONDS = 120
"""The time limit of a test: a mutant may make a loop infinite."""

FAR = 10**6
"""A distance greater than between any two lines of a file."""


def main() -> None:
    """Replace this process by pytest."""
    data = CoverageData(str(ROOT / ".coverage"))
    data.read()
    scratch = ROOT / "build" / "scratch"  # removed here, since a time limit kills this process
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    listed = scratch / "tests.txt"
    tests = selected(distances(data, *mutated_line()))
    listed.write_text("\n".join(tests), encoding="utf-8")
    # A mutant may store faulty kernels.
    caches = dict.fromkeys(("MT_FAST_CACHE", "NUMBA_CACHE_DIR", "TMPDIR"), str(scratch))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(ROOT)
    limits = [f"faulthandler_timeout={SECONDS}", "faulthandler_exit_on_timeout=true"]
    os.execve(
        sys.executable,
        [
            *(sys.executable, "-m", "pytest", "-qx", "--tb=line", "-p", "no:cacheprovider"),
            *("--hypothesis-profile=repeatable", "-o", limits[0], "-o", limits[1], f"@{listed}"),
        ],
        {**os.environ, **caches},
    )


def mutated_line() -> tuple[Path, int]:
    """Return the file that differs from the commit, and its first line that does.

    Without a mutation, as when cosmic-ray tries the command, these are the root and 0.
    """
    diff = output(["git", "diff", "--unified=0", "--no-prefix"], ROOT)
    found = re.search(r"^\+\+\+ (.+)\n@@ -(\d+)", diff, re.MULTILINE)
    return (ROOT / found[1], int(found[2])) if found else (ROOT, 0)


def distances(data: CoverageData, file: Path, line: int) -> dict[str, int]:
    """Return how far from a line the lines are that each test executes."""
    found = {_test(context): 2 * FAR for context in sorted(data.measured_contexts()) if context}
    for other in data.measured_files():
        if Path(other).parent == file.parent:
            for number, contexts in data.contexts_by_lineno(other).items():
                distance = abs(number - line) if other == str(file) else FAR
                for test in map(_test, filter(None, contexts)):
                    found[test] = min(found[test], distance)
    return found


def _test(context: str) -> str:
    """Return the test of a context, which pytest-cov names `test|phase`."""
    return context.rpartition("|")[0]


def selected(distances: dict[str, int]) -> list[str]:
    """Return the closest tests; at equal distance, one of each function before the next of any."""
    seen = Counter[tuple[int, str]]()
    keys = {}
    for test, distance in distances.items():
        function = (distance, test.partition("[")[0])
        keys[test] = (distance, seen[function])
        seen[function] += 1
    return sorted(keys, key=lambda test: keys[test])[:TESTS]


if __name__ == "__main__":
    main()
