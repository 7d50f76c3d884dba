"""A copy of the workspace, in which files can be changed and tests run.

It shares only installed libraries with the workspace. The copied packages come first on Python's
path, before those installed in editable mode. Bytecode of a file is removed whenever the file is
changed, because Python validates it by size and by time in seconds, which may both be equal for
another fault.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from mt.programs import output
from mt.workspace import ROOT

SOURCES = "packages/*/src"


@dataclass(frozen=True)
class Done:
    """The result of a run of pytest.

    Attributes:
        status: its exit status; None if it was stopped by the time limit.
        said: its output.
    """

    status: int | None
    said: str


class Tree:
    """A copy of the files of the workspace that git does not ignore; a `with` block removes it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mt-mutate-"))
        self.root = self.folder / "tree"
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in filter(None, output(listed).split("\0")):
            if (ROOT / name).is_file():  # and not deleted
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)

    def __enter__(self) -> Tree:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name: str, text: bytes) -> None:
        """Write a file."""
        file = self.root / name
        file.write_bytes(text)
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            compiled.unlink()

    def pytest(self, *arguments: str, seconds: float | None = None, **variables: str) -> Done:
        """Run pytest in the copy; kill it and its children at the time limit.

        Args:
            *arguments: of pytest.
            seconds: the time limit.
            **variables: environment variables.
        """
        scratch = self.folder / "scratch"
        scratch.mkdir()
        path = [str(source) for source in self.root.glob(SOURCES)] + [str(self.root / "tools")]
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
                *("--hypothesis-profile=repeatable", *arguments),
            ],
            cwd=self.root,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path),
                "TMPDIR": str(scratch),
                "MT_FAST_CACHE": str(self.folder / "kernels"),
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=seconds)
            return Done(process.returncode, said)
        except subprocess.TimeoutExpired:
            return Done(None, "")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            shutil.rmtree(scratch, ignore_errors=True)
