"""The order in which the core of a stage is read, which its README has as a list.

Below `## Reading order` each line links a file, `1. [errors.py](src/mt_x/core/errors.py) - the
errors`, and each file imports only files above it, so that nothing is used before it is explained.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mt.source.imports import imported, imports
from mt.source.modules import Imported, Library
from mt.source.parts import has_core, lines_of_code, part_of

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

    The core imports the core, the rest imports both, and neither imports what is for tests. Only
    the package's own `__init__`, which gives users all names, takes some from the rest.
    """
    for module in library.modules(package):
        part = part_of(module)
        forbidden = {
            "core": {"conformance"} if module.name == package else {"conformance", "rest"},
            "rest": {"conformance"},
            "conformance": set[str](),
        }[part]
        for other, line in imports(library, module):
            if part_of(other) in forbidden:
                where, what = module.path, other.path
                yield f"{where} ({part}), line {line}, imports {what} ({part_of(other)})"


def beyond_cores(library: Library, package: str) -> Iterator[str]:
    """Yield a message for each name that a core imports from outside the cores of other packages.

    Packages without a folder `core/` neither have to keep this rule nor are protected by it.
    """
    with_core = {name for name, folder in library.folders.items() if has_core(folder)}
    if package not in with_core:
        return
    for module in library.modules(package):
        if part_of(module) != "core":
            continue
        for other, line in imported(library, module):
            if other.name in with_core - {package}:  # its __init__, which has names of all parts
                continue
            if other.name.partition(".")[0] in with_core - {package} and part_of(other) != "core":
                yield f"{module.path} (core), line {line}, imports {other.name} ({part_of(other)})"
        for name, origin in module.names.items():
            if isinstance(origin, Imported) and origin.module in with_core - {package}:
                source = library.module(origin.module)
                bound = source.names.get(origin.name or "") if source else None
                owner = library.module(bound.module) if isinstance(bound, Imported) else None
                if owner is not None and part_of(owner) != "core":
                    yield f"{module.path} (core) imports {name} from {owner.name} (rest)"


def disordered(library: Library, package: str, order: Sequence[str]) -> Iterator[str]:
    """Yield a message for each file that an order of reading lacks, or has in a wrong place.

    Files without code, as of a folder that only says what it holds, need no place.
    """
    core = {
        module.path: module
        for module in library.modules(package)
        if part_of(module) == "core" and lines_of_code(module)
    }
    for path in sorted(core.keys() - set(order)):
        yield f"the reading order lacks {path}"
    for place, path in enumerate(order):
        above = order[:place]
        if path in above:
            yield f"the reading order has {path} twice"
        elif path not in core:
            yield f"the reading order has {path}, which is no file of the core"
        else:
            for other, line in imports(library, core[path]):
                needed = other.path
                if needed in core and needed not in above:
                    yield f"{path}, line {line}, imports {needed}, which is read later"
