"""Select the tests of a package that could detect a fault, the most likely first.

The selection is based on one run of all tests (`recording.py`), stored in `build/mutate`. Changed
test files are recorded again; if the source of the package changes, all are.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from coverage import CoverageData

from mt.mutate.faults import Fault
from mt.mutate.tree import Tree
from mt.workspace import ROOT, Stage

WORK = ROOT / "build" / "mutate"
"""The folder for recordings and outcomes."""


@dataclass
class Recording:
    """The record of the tests of a package.

    Attributes:
        folder: the folder where it is stored.
        source: a hash of the source at the time.
        files: a hash of each test file at the time.
        seconds: the duration of each test.
        failed: tests that failed without a fault.
        starting: tests that started programs, whose lines are unknown.
        compiled: by file and line, the tests that first compiled the function there.
    """

    folder: Path
    source: str = ""
    files: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    starting: list[str] = field(default_factory=list)
    compiled: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, stage: Stage, processes: int) -> Recording:
        """Return the record of a package, after running new or changed tests."""
        folder, source = WORK / stage.name, _hash(*sorted(stage.source.rglob("*.py")))
        kept = folder / "recording.json"
        recording = cls(folder, **json.loads(kept.read_text("utf-8"))) if kept.is_file() else None
        if recording is None or recording.source != source:
            recording = cls(folder, source)
            recording._lines.unlink(missing_ok=True)
        tests = sorted((stage.folder / "tests").rglob("test_*.py"))
        files = {file.relative_to(ROOT).as_posix(): _hash(file) for file in tests}
        changed = [file for file, digest in files.items() if recording.files.get(file) != digest]
        gone = [file for file in recording.files if files.get(file) != recording.files[file]]
        recording._forget(gone)
        if changed:
            recording._record(stage, changed, processes)
        recording.files = files
        names = [each.name for each in fields(cls) if each.name != "folder"]
        content = {name: getattr(recording, name) for name in names}
        kept.write_text(json.dumps(content), encoding="utf-8")
        return recording

    @property
    def _lines(self) -> Path:
        return self.folder / "lines.coverage"

    def _forget(self, files: Iterable[str]) -> None:
        """Remove the tests of some files from the record."""
        for file in files:
            within = f"{file}::"
            self.seconds = {t: s for t, s in self.seconds.items() if not t.startswith(within)}
            self.failed = [test for test in self.failed if not test.startswith(within)]
            self.starting = [test for test in self.starting if not test.startswith(within)]
            with closing(sqlite3.connect(self._lines)) as lines, lines:
                lines.execute(
                    "DELETE FROM line_bits WHERE context_id IN "
                    "(SELECT id FROM context WHERE substr(context, 1, ?) = ?)",
                    (len(within), within),
                )

    def _record(self, stage: Stage, files: Sequence[str], processes: int) -> None:
        """Run the tests of some files, and add them to the record."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with Tree() as tree:
            scratch = tree.folder / "recording"
            scratch.mkdir()
            source = stage.source.parent.relative_to(ROOT)
            done = tree.pytest(
                *(
                    "-p",
                    "mt.mutate.recording",
                    f"--record={scratch}",
                    f"--lines-of={tree.root / source}",
                ),
                *("-n", str(processes), "--dist=worksteal", *files),
                MT_FAST_CACHE="off",
            )
            print("\n".join(done.said.splitlines()[-12:]), flush=True)
            lines = CoverageData(str(self._lines))
            lines.read()
            for file in sorted(scratch.glob("*.coverage*")):
                more = CoverageData(str(file))
                more.read()
                lines.update(more)
            for file in sorted(scratch.glob("*.json")):
                self._add(json.loads(file.read_text("utf-8")))

    def _add(self, noted: Mapping[str, Any]) -> None:
        self.seconds |= noted["seconds"]
        self.failed += noted["failed"]
        self.starting += noted["starting"]
        for file, lines in noted["compiled"].items():
            for line, tests in lines.items():
                self.compiled.setdefault(file, {}).setdefault(line, []).extend(tests)

    # --- Choosing tests ---------------------------------------------------------------------------

    @cached_property
    def _executed(self) -> Any:
        lines = CoverageData(str(self._lines))
        lines.read()
        return cache(lines.contexts_by_lineno)

    @cached_property
    def _size(self) -> Counter[str]:
        """The number of files that each test touches: the fewer, the more specific it is."""
        with closing(sqlite3.connect(self._lines)) as lines:
            query = (
                "SELECT context.context, count(*) FROM line_bits JOIN context "
                "ON context.id = line_bits.context_id GROUP BY line_bits.context_id"
            )
            return Counter(dict(lines.execute(query)))

    def tests_for(self, fault: Fault, budget: float, thorough: bool) -> list[str]:
        """Return the tests that could detect a fault, the most likely first.

        First come those that execute its line, then those that compiled its function, those that
        execute anything in its file, those that start programs, and all others: compiled code is
        not recorded, nor is code that runs only once because its result is cached.

        Args:
            fault: the fault.
            budget: the time limit in seconds for each of these groups.
            thorough: whether to take all tests, regardless of time.
        """
        executed: dict[int, list[str]] = self._executed(fault.file)
        usable = self.seconds.keys() - set(self.failed)
        first, last = fault.within
        of_line = set(executed.get(fault.number, ())) & usable
        if not of_line and not fault.at_import:
            of_line = {t for n in range(first, last + 1) for t in executed.get(n, ())} & usable
        compiled = set(self.compiled.get(fault.file, {}).get(str(fault.number), ()))
        near = {test for tests in executed.values() for test in tests}
        groups = [of_line, compiled, near, set(self.starting), usable]
        taken: dict[str, None] = {}
        for group in groups:
            spent = 0.0
            for test in self._spread(group & usable - taken.keys()):
                spent += self.seconds[test]
                if taken and spent > budget and not thorough:
                    break
                taken[test] = None
        return list(taken)

    def _spread(self, tests: Iterable[str]) -> list[str]:
        """Interleave tests: the first of each function, then the second of each, and so on."""
        by_function: dict[str, list[str]] = defaultdict(list)
        for test in sorted(tests, key=lambda test: (self._size[test], self.seconds[test], test)):
            by_function[test.partition("[")[0]].append(test)
        turns = [
            (turn, self.seconds[test], test)
            for same in by_function.values()
            for turn, test in enumerate(same)
        ]
        return [test for _, _, test in sorted(turns)]


def _hash(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
