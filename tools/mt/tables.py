"""Reading tables of TOML: what is missing, unknown or of the wrong type is refused.

The map of concepts, its order and the tasks of the course are files that people write. Each mistake
in one is a `TableError` that says where it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mt.errors import ToolError


class TableError(ToolError):
    """What a file says is not what it should be."""


def read_table(file: Path) -> dict[str, Any]:
    """Return what a file holds.

    Raises:
        TableError: it is no TOML; says where.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{file.name}: {error}") from error


def check_table(
    where: str,
    table: Mapping[str, Any],
    needed: Mapping[str, type],
    optional: Mapping[str, type] | None = None,
    *,
    held: Mapping[str, type] | None = None,
) -> None:
    """Raise TableError unless a table has what is needed, nothing unknown, and fitting values.

    Args:
        where: where it stands, for the message.
        table: what was read.
        needed: the types of values that must be there, by their keys.
        optional: those of values that may be.
        held: the types of what lists hold, by their keys; others hold texts.
    """
    known = {**needed, **(optional or {})}
    for key in needed:
        if key not in table:
            raise TableError(f"{where}: {key!r} is missing.")
    for key, value in table.items():
        if key not in known:
            raise TableError(f"{where}: {key!r} is unknown; there are {', '.join(known)}.")
        if not isinstance(value, known[key]):
            raise TableError(
                f"{where}: {key!r} must be of type {known[key].__name__}; {value!r} was given."
            )
        kind = (held or {}).get(key, str)
        if isinstance(value, list) and not all(isinstance(each, kind) for each in value):
            raise TableError(
                f"{where}: {key!r} must hold values of type {kind.__name__}; {value!r} was given."
            )
