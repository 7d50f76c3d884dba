"""`mt size`: the sizes of the core, the rest and the kit of each stage, and the reading order."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from mt.errors import reported
from mt.source.parts import PARTS, lines_of_code, part_of
from mt.source.reading import reading_order
from mt.workspace import Stage, Workspace


def main(arguments: Sequence[str]) -> int:
    """Print the sizes of each stage, and the files of its core."""
    parser = argparse.ArgumentParser(
        prog="mt size",
        description="Print the size of each stage: lines on the page with docstrings, comments and "
        "blank lines, lines of code and files; and the reading order of its core.",
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    with reported("size"):
        stages = Workspace.read().stages.values()
    sizes = {stage.short: size_of(stage) for stage in stages}
    if options.json:
        print(json.dumps(sizes, indent=1))
        return 0
    print("Lines on the page (of code) in files")
    print(_row(("stage", *PARTS)))
    for name, size in sizes.items():
        print(_row((name, *map(_cell, size.values()))))
    total = {part: _sum(size[part] for size in sizes.values()) for part in PARTS}
    print(_row(("all", *map(_cell, total.values()))))
    for stage in stages:
        order = sizes[stage.short]["core"]["order"]
        pages = (len((stage.source / path).read_text().splitlines()) for path in order)
        names = (path.removeprefix("core/") for path in order)
        files = ", ".join(f"{name} {page}" for name, page in zip(names, pages, strict=True))
        text = textwrap.fill(files, 100, initial_indent="  ", subsequent_indent="  ")
        print(f"\nCore of {stage.short}\n{text}")
    return 0


def size_of(stage: Stage) -> dict[str, dict[str, Any]]:
    """Return the files, the lines on the page and the lines of code of each part of a stage.

    Files without code do not count as files. The core also has its reading `order`.
    """
    sizes: dict[str, dict[str, Any]] = {part: {"files": 0, "lines": 0, "code": 0} for part in PARTS}
    for file in stage.source.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        path = file.relative_to(stage.source).with_suffix("")
        code = lines_of_code(text)
        size = sizes[part_of(".".join([stage.import_name, *path.parts]))]
        size["files"] += code > 0
        size["lines"] += len(text.splitlines())
        size["code"] += code
    sizes["core"]["order"] = reading_order(stage.folder / "README.md")
    return sizes


def _sum(sizes: Iterable[dict[str, Any]]) -> dict[str, int]:
    each = list(sizes)
    return {key: sum(size[key] for size in each) for key in ("files", "lines", "code")}


def _cell(size: dict[str, Any]) -> str:
    return f"{size['lines']:,} ({size['code']:,}) in {size['files']}"


def _row(cells: Iterable[str]) -> str:
    return "".join(f"{cell:24}" for cell in cells).rstrip()
