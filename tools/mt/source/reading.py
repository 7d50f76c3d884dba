"""The reading order of the core of a stage, a list in its README.

Below `## Reading order` each line links a file, `1. [errors.py](src/mt_x/core/errors.py) - the
errors`, and each file imports only files above it, so that nothing is used before it is explained.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mt.source.imports import imported, imports
from mt.source.modules import Imported, Library
from mt.source.parts import lines_of_code, part_of

_SECTION = re.compile(r"^## Reading order$(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"^\d+\. \[[^]]*\]\(src/\w+/(\S+\.py)\)", re.MULTILINE)


def reading_order(readme: Path) -> list[str]:
    """Return the files that a README lists, as paths below the package; none if it has no list."""
    section = _SECTION.search(readme.read_text(encoding="utf-8"))
    return _LINE.findall(section[1]) if section else []


def misdirected(library: Library, package: str) -> Iterator[str]:
    """Yield a message for each import within a package that violates its layers.

    The core imports only the core, the rest imports both, and neither imports code for tests.
    """
    for module in library.modules(package):
        part = part_of(module)
        forbidden = {
            "core": {"conformance", "rest"},
            "rest": {"conformance"},
            "conformance": set[str](),
        }[part]
        for other, line in imports(library, module):
            if part_of(other) in forbidden:
                where, what = module.path, other.path
                yield f"{where} ({part}), line {line}, imports {what} ({part_of(other)})"


def beyond_cores(library: Library, package: str) -> Iterator[str]:
    """Yield a message for each name that a core imports from another package's other parts."""
    packages = {*library.folders} - {package}
    for module in library.modules(package):
        if part_of(module) != "core":
            continue
        for other, line in imported(library, module):
            if other.name in packages:  # its __init__, which exports names of all parts
                continue
            if other.name.partition(".")[0] in packages and part_of(other) != "core":
                yield f"{module.path} (core), line {line}, imports {other.name} ({part_of(other)})"
        for name, origin in module.names.items():
            if isinstance(origin, Imported) and origin.module in packages:
                source = library.module(origin.module)
                bound = source.names.get(origin.name or "") if source else None
                owner = library.module(bound.module) if isinstance(bound, Imported) else None
                if owner is not None and part_of(owner) != "core":
                    yield f"{module.path} (core) imports {name} from {owner.name} (rest)"


def disordered(library: Library, package: str, order: Sequence[str]) -> Iterator[str]:
    """Yield a message for each file that is missing or misplaced in a reading order.

    Files without code, such as an `__init__` with only a docstring, need no entry.
    """
    core = {
        module.path: module
        for module in library.modules(package)
        if part_of(module) == "core" and lines_of_code(module)
    }
    for path in sorted(core.keys() - set(order)):
        yield f"{path} is missing from the reading order"
    for place, path in enumerate(order):
        above = order[:place]
        if path in above:
            yield f"{path} is in the reading order twice"
        elif path not in core:
            yield f"{path} is in the reading order, but not a file of the core"
        else:
            for other, line in imports(library, core[path]):
                needed = other.path
                if needed in core and needed not in above:
                    yield f"{path}, line {line}, imports {needed}, which comes later"
