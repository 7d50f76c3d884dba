"""Checksums of a file, in its metadata.

One covers the elements of all arrays, another the names, dtypes and shapes of arrays and the
metadata, including the first checksum. So the header, which contains the score of a checkpoint, can
be verified without reading gigabytes of elements.
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
"""The prefix of reserved names in the metadata."""

STRUCTURE = "mt_nn.structure"
ELEMENTS = "mt_nn.elements.crc32"
HEADER = "mt_nn.header.crc32"


def with_checksums(metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> dict[str, str]:
    """Return metadata with the checksums of a file that contains these arrays."""
    extended = {**metadata, ELEMENTS: elements_sum(arrays)}
    return {**extended, HEADER: _header_sum(extended, described(arrays))}


def has_checksums(metadata: Mapping[str, str]) -> bool:
    """Return whether metadata contain checksums, as in files written by this package."""
    return any(name.startswith(OWN) for name in metadata)


def check_header(header: Header, source: str) -> None:
    """Compare a header with its checksum, if it has one.

    Raises:
        FileError: the header is damaged, or was written by another version.
    """
    rest = dict(header.metadata)
    if has_checksums(rest):
        unknown = {name for name in rest if name.startswith(OWN)} - {STRUCTURE, ELEMENTS, HEADER}
        if rest.pop(HEADER, None) != _header_sum(rest, header.parts) or unknown:
            raise damaged(source)


def elements_sum(contents: Mapping[str, Any]) -> str:
    """Return the checksum of arrays, or of their bytes, independent of their order."""
    return _sum(sorted([(name, zlib.crc32(content)) for name, content in contents.items()]))


def _header_sum(metadata: Mapping[str, str], parts: Parts) -> str:
    shapes = sorted([(name, *part) for name, part in parts.items()])
    return _sum([sorted(metadata.items()), shapes])


def _sum(values: object) -> str:
    return f"{zlib.crc32(json.dumps(values).encode()):08x}"


def damaged(source: str) -> FileError:
    """Return the error for a file that does not match its checksums."""
    return FileError(
        f"{source} is damaged: its content does not match its checksum. Use another file."
    )


def user_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata without reserved names."""
    return {name: text for name, text in metadata.items() if not name.startswith(OWN)}


def checked_metadata(metadata: Mapping[str, str] | None) -> dict[str, str]:
    """Return a copy of the metadata given by a user; empty for None.

    Raises:
        SettingError: names and values are not strings, or a name is reserved.
    """
    texts = dict(metadata or {})
    for name, value in texts.items():
        try:
            (name + value).encode()
        except (TypeError, UnicodeEncodeError):
            raise SettingError(
                f"metadata must be strings by name; {name!r} has the value {value!r}. Convert it "
                "with str()."
            ) from None
        if name.startswith(OWN):
            raise SettingError(f"the name {name!r} in metadata is reserved: choose another one.")
    return texts
