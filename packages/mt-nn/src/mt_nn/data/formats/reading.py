"""What readers of formats share: texts, lines of text, and files that may be packed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mt_nn.errors import FileError
from mt_nn.files.reading import PathLike, Source, opened, unreadable


def read_text(path: PathLike) -> str:
    """Return the text in a file, which is UTF-8; as it is, with its ends of lines.

    With `Vocabulary(sorted(set(text)))` its characters become numbers.

    Args:
        path: where the file is, plain or packed with gzip.

    Raises:
        FileError: it cannot be read, is damaged, no UTF-8, or takes more than `mt_nn.limits` allow.
    """
    with opened(path) as source:
        content = source.read_all()
        # One letter beyond the Basic Multilingual Plane makes all of a string's letters as wide.
        source.allowance.take("memory", len(content) * (1 if content.isascii() else 4))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path}, line {line}: this is no UTF-8 ({error.reason}).") from error


def lines_of(path: PathLike, source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text in UTF-8, without their ends, each with its number from 1.

    Raises:
        FileError: a line is no UTF-8, or a limit is reached.
    """
    for number, line in source.lines():
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise FileError(f"{path}, line {number}: this is no UTF-8 ({error.reason}).") from error
        yield number, text.rstrip("\r\n")


def find(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder, or of its packed form, whose name ends in `.gz`.

    Raises:
        FileError: neither is there, or it cannot be known.
    """
    for candidate in _forms(folder, name):
        if _exists(candidate):
            return candidate
    raise FileError(
        f"{folder} holds no {name} or {name}.gz: name the folder where it lies, or put it there."
    )


def holds(folder: Path, name: str) -> bool:
    """Return whether a folder has a file, or its packed form.

    Raises:
        FileError: it cannot be known.
    """
    return any(map(_exists, _forms(folder, name)))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # nobody may look there, or the name is too long
        raise unreadable(path, error) from error


def _forms(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / name, folder / f"{name}.gz"
