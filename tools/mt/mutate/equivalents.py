"""Equivalent mutants: faults that change nothing observable, each with the reason.

They are listed in a TOML file for each package. An entry is matched by its file, its function, the
text of its line and its change, so that lines may move.

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

FOLDER = Path(__file__).with_name("equivalent")

Key = tuple[str, str, str, str]

FIELDS = ("file", "function", "line", "change")


def equivalent(package: str, folder: Path = FOLDER) -> Mapping[Key, str]:
    """Return the equivalent faults of a package, with the reason for each.

    Raises:
        TableError: an entry is invalid or repeated.
    """
    file = folder / f"{package}.toml"
    if not file.is_file():
        return {}
    found: dict[Key, str] = {}
    for entry in read_table(file).get("fault", []):
        check_table(file.name, entry, dict.fromkeys((*FIELDS, "reason"), str))
        values = (entry["file"], entry["function"], entry["line"], entry["change"])
        if values in found:
            raise TableError(f"{file.name} has an entry twice: {values}")
        found[values] = entry["reason"]
    return found


def key(fault: Fault) -> Key:
    """Return the values that an entry for a fault is matched by."""
    return fault.file, fault.function, fault.line, fault.change
