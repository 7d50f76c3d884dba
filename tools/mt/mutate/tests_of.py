"""Select the tests of a package that could detect a fault, the most likely first.

The selection is based on one run of all tests (`recording.py`), stored in `build/mutate` with the
source at that time, so that lines that have moved since are found again. Changed test files are
recorded again. Changed lines have no record until that folder is deleted.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from difflib import SequenceMatcher
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
        files: a hash of each test file at the time.
        seconds: the duration of each test.
        failed: tests that failed without a fault.
        starting: tests that started programs, whose lines are unknown.
        compiled: by file and line, the tests that first compiled the function there.
        root: the folder that paths are relative to.
    """

    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    starting: list[str] = field(default_factory=list)
    compiled: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    root: Path = ROOT

    @classmethod
    def of(cls, stage: Stage, processes: int) -> Recording:
        """Return the record of a package, after running new or changed tests."""
        recording = cls(WORK / stage.name)
        kept = recording.folder / "recording.json"
        if kept.is_file():
            recording = cls(recording.folder, **json.loads(kept.read_text("utf-8")))
        else:
            recording._lines.unlink(missing_ok=True)
            shutil.rmtree(recording._source, ignore_errors=True)
        files = {file.relative_to(ROOT).as_posix(): _hash(file) for file in _test_files(stage)}
        changed = [file for file, digest in files.items() if recording.files.get(file) != digest]
        gone = [file for file in recording.files if files.get(file) != recording.files[file]]
        recording._forget(gone)
        if changed:
            recording._record(stage, changed, processes)
        recording.files = files
        content = {name: value for name, value in vars(recording).items() if name in cls._kept()}
        kept.write_text(json.dumps(content), encoding="utf-8")
        return recording

    @classmethod
    def _kept(cls) -> set[str]:
        return {"files", "seconds", "failed", "starting", "compiled"}

    @property
    def _lines(self) -> Path:
        return self.folder / "lines.coverage"

    @property
    def _source(self) -> Path:
        return self.folder / "source"

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
            if not self._source.is_dir():
                shutil.copytree(tree.root / source, self._source / source)
            for file in sorted(scratch.glob("*.coverage*")):
                self._add_lines(file)
            for file in sorted(scratch.glob("*.json")):
                self._add(json.loads(file.read_text("utf-8")))

    def _add_lines(self, file: Path) -> None:
        """Add the lines that a process has executed, numbered as in the stored source."""
        lines, more = CoverageData(str(self._lines)), CoverageData(str(file))
        lines.read()
        more.read()
        for name in more.measured_files():
            by_test: dict[str, list[int]] = defaultdict(list)
            for line, tests in more.contexts_by_lineno(name).items():
                for test in tests:
                    by_test[test].append(self._number(name, line))
            for test, numbers in by_test.items():
                lines.set_context(test)
                lines.add_lines({name: set(numbers) - {0}})
        lines.write()

    def _add(self, noted: Mapping[str, Any]) -> None:
        self.seconds |= noted["seconds"]
        self.failed += noted["failed"]
        self.starting += noted["starting"]
        for file, lines in noted["compiled"].items():
            for line, tests in lines.items():
                number = str(self._number(file, int(line)))
                self.compiled.setdefault(file, {}).setdefault(number, []).extend(tests)

    def _number(self, file: str, line: int) -> int:
        """Return the number of a line in the stored source; 0 if it is not there."""
        return self._numbers(file).get(line, 0)

    @cached_property
    def _numbers(self) -> Callable[[str], dict[int, int]]:
        @cache
        def numbers(file: str) -> dict[int, int]:
            kept = self._source / file
            before, now = (
                each.read_text("utf-8").splitlines() if each.is_file() else []
                for each in (kept, self.root / file)
            )
            blocks = SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
            return {b + i + 1: a + i + 1 for a, b, size in blocks for i in range(size)}

        return numbers

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
        by_number: dict[int, list[str]] = self._executed(fault.file)
        executed = {
            now: by_number.get(before, []) for now, before in self._numbers(fault.file).items()
        }
        usable = self.seconds.keys() - set(self.failed)
        first, last = fault.within
        of_line = set(executed.get(fault.number, ())) & usable
        if not of_line and not fault.at_import:
            of_line = {t for n in range(first, last + 1) for t in executed.get(n, ())} & usable
        number = str(self._number(fault.file, fault.number))
        compiled = set(self.compiled.get(fault.file, {}).get(number, ()))
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


def _test_files(stage: Stage) -> list[Path]:
    return sorted((stage.folder / "tests").rglob("test_*.py"))


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
