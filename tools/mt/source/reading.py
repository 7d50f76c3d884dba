"""The order in which the lesson of a stage is read, which its README has as a list.

Below `## Reading order` each line links a file, `1. [errors.py](src/mt_x/errors.py) - what goes
wrong`, and each file imports only files above it, so that nobody meets what is explained later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mt.source.imports import imports
from mt.source.modules import Library
from mt.source.parts import lines_of_code, part_of

_SECTION = re.compile(r"^## Reading order$(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"^\d+\. \[[^]]*\]\(src/\w+/(\S+\.py)\)", re.MULTILINE)


def reading_order(readme: Path) -> list[str]:
    """Return the files that a README lists, by their paths in the package.

    A README without the section lists none.
    """
    section = _SECTION.search(readme.read_text(encoding="utf-8"))
    return _LINE.findall(section[1]) if section else []


def misdirected(library: Library, package: str) -> Iterator[str]:
    """Yield a message for each import of a package that crosses its parts in the wrong direction.

    The lesson imports the lesson, the library both, and neither imports what is for tests. Only the
    package's own `__init__`, which gives users all names, takes some from its library.
    """
    for module in library.modules(package):
        part = part_of(module)
        forbidden = {
            "lesson": {"conformance"} if module.name == package else {"conformance", "library"},
            "library": {"conformance"},
            "conformance": set[str](),
        }[part]
        for other, line in imports(library, module):
            if part_of(other) in forbidden:
                where, what = module.path, other.path
                yield f"{where} ({part}), line {line}, imports {what} ({part_of(other)})"


def disordered(library: Library, package: str, order: Sequence[str]) -> Iterator[str]:
    """Yield a message for each file that an order of reading lacks, or has in a wrong place.

    Files without code, as of a folder that only says what it holds, need no place.
    """
    lesson = {
        module.path: module
        for module in library.modules(package)
        if part_of(module) == "lesson" and lines_of_code(module)
    }
    for path in sorted(lesson.keys() - set(order)):
        yield f"the reading order lacks {path}"
    for place, path in enumerate(order):
        above = order[:place]
        if path in above:
            yield f"the reading order has {path} twice"
        elif path not in lesson:
            yield f"the reading order has {path}, which is no file of the lesson"
        else:
            for other, line in imports(library, lesson[path]):
                needed = other.path
                if needed in lesson and needed not in above:
                    yield f"{path}, line {line}, imports {needed}, which is read later"
