"""Read and validate TOML files: missing and unknown keys and wrong types are errors.

The concept map, its order and the tasks of the course are written by hand. Each mistake in one of
them raises a `TableError` with its position.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mt.errors import ToolError


class TableError(ToolError):
    """The content of a file is invalid."""


def read_table(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        TableError: it is not valid TOML; the message says where.
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
    item_types: Mapping[str, type] | None = None,
) -> None:
    """Raise TableError if keys are missing or unknown, or values have the wrong type.

    Args:
        where: the position of the table, for the message.
        table: the parsed table.
        needed: the types of required values, by key.
        optional: the types of optional values, by key.
        item_types: the types of the items of lists, by key; by default, `str`.
    """
    known = {**needed, **(optional or {})}
    for key in needed:
        if key not in table:
            raise TableError(f"{where}: {key!r} is missing.")
    for key, value in table.items():
        if key not in known:
            raise TableError(f"{where}: {key!r} is unknown; the known keys are {', '.join(known)}.")
        if not isinstance(value, known[key]):
            raise TableError(
                f"{where}: {key!r} must be of type {known[key].__name__}; {value!r} was given."
            )
        kind = (item_types or {}).get(key, str)
        if isinstance(value, list) and not all(isinstance(each, kind) for each in value):
            raise TableError(
                f"{where}: {key!r} must contain values of type {kind.__name__}; "
                f"{value!r} was given."
            )
