"""Check sums of a file: everything in it that decides is under one.

The sum of the elements stands in the metadata, and the sum of the header beside it, which covers
the names, types and shapes of the arrays and all metadata with it. So the header can be trusted
without reading what may be gigabytes behind it: the score of a checkpoint stands there.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from mt_nn.errors import FileError, SettingError
from mt_nn.saving.layout import Header, Parts, described
from mt_tensor.extending import Array

OWN = "mt_nn."
"""How names in the metadata begin that are not the user's."""

STRUCTURE = "mt_nn.structure"
ELEMENTS = "mt_nn.elements.crc32"
HEADER = "mt_nn.header.crc32"


def sealed(metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> dict[str, str]:
    """Return metadata with the check sums of a file that holds these arrays, too."""
    whole = {**metadata, ELEMENTS: elements_sum(arrays)}
    return {**whole, HEADER: _header_sum(whole, described(arrays))}


def is_sealed(metadata: Mapping[str, str]) -> bool:
    """Return whether metadata are of a file that was written here, and so have check sums."""
    return any(name.startswith(OWN) for name in metadata)


def check_header(header: Header, source: str) -> None:
    """Compare a header with its check sum, if it has one.

    Raises:
        FileError: it is damaged, or of another version.
    """
    rest = dict(header.metadata)
    if is_sealed(rest):
        unknown = {name for name in rest if name.startswith(OWN)} - {STRUCTURE, ELEMENTS, HEADER}
        if rest.pop(HEADER, None) != _header_sum(rest, header.parts) or unknown:
            raise damaged(source)


def elements_sum(contents: Mapping[str, Any]) -> str:
    """Return the check sum of arrays, or of their bytes, by name, in whatever order these are."""
    return _sum(sorted([(name, zlib.crc32(content)) for name, content in contents.items()]))


def _header_sum(metadata: Mapping[str, str], parts: Parts) -> str:
    shapes = sorted([(name, *part) for name, part in parts.items()])
    return _sum([sorted(metadata.items()), shapes])


def _sum(values: object) -> str:
    return f"{zlib.crc32(json.dumps(values).encode()):08x}"


def damaged(source: str) -> FileError:
    """Return the error for a file that is not what was saved."""
    return FileError(
        f"{source} is damaged: its content is not what was saved. Take an earlier one."
    )


def users(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return those of the metadata that users have given."""
    return {name: text for name, text in metadata.items() if not name.startswith(OWN)}


def checked(metadata: Mapping[str, str] | None) -> dict[str, str]:
    """Return metadata that a user gives, as a dictionary, which is empty for None.

    Raises:
        SettingError: they are no strings by name, or a name is taken.
    """
    texts = dict(metadata or {})
    for name, value in texts.items():
        try:
            fits = bool((name + value).encode()) or not name
        except (TypeError, UnicodeEncodeError):
            fits = False
        if not fits:
            raise SettingError(
                f"metadata are strings by name; {name!r} holds {value!r}. Convert it with str()."
            )
        if name.startswith(OWN):
            raise SettingError(f"metadata cannot be called {name!r}: choose another name.")
    return texts
