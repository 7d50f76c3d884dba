"""Faults that change nothing that anybody could observe, each with the reason.

They are files of TOML beside this module, one for each package, with an entry for each fault. It is
found by its file, its function, the text of its line and its change, so that lines may move.

    [[fault]]
    file = "packages/mt-fast/src/mt_fast/core/kernel.py"
    function = "Kernel.run"
    line = "threads = thread_count() if parallel else 1"
    change = "1 -> 2"
    reason = "..."
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mt.mutate.faults import Fault
from mt.tables import TableError, check_table, read_table

FOLDER = Path(__file__).with_name("judged")

Key = tuple[str, str, str, str]

FIELDS = ("file", "function", "line", "change")


def judged(package: str, folder: Path = FOLDER) -> Mapping[Key, str]:
    """Return the faults of a package that change nothing, with the reason for each.

    Raises:
        TableError: an entry lacks something.
    """
    file = folder / f"{package}.toml"
    if not file.is_file():
        return {}
    found: dict[Key, str] = {}
    for entry in read_table(file).get("fault", []):
        check_table(file.name, entry, dict.fromkeys((*FIELDS, "reason"), str))
        values = (entry["file"], entry["function"], entry["line"], entry["change"])
        if values in found:
            raise TableError(f"{file.name} judges this twice: {values}")
        found[values] = entry["reason"]
    return found


def key(fault: Fault) -> Key:
    """Return what a fault is found by."""
    return fault.file, fault.function, fault.line, fault.change
