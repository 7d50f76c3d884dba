"""The reading order of the core of a stage, a list in its README.

Below `## Reading order` each line links a file, `1. [errors.py](src/mt_x/core/errors.py) - the
errors`, and each file imports only files above it, so that nothing is used before it is explained.
"""

from __future__ import annotations

import re
from pathlib import Path

_SECTION = re.compile(r"^## Reading order$(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"^\d+\. \[[^]]*\]\(src/\w+/(\S+\.py)\)", re.MULTILINE)


def reading_order(readme: Path) -> list[str]:
    """Return the files that a README lists, as paths below the package; none if it has no list."""
    section = _SECTION.search(readme.read_text(encoding="utf-8"))
    return _LINE.findall(section[1]) if section else []
