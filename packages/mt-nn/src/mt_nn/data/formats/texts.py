"""Readers of texts and of labeled sentences.

Files of sentences (SST-2, movie reviews) have tab-separated fields without quoting. In the usual
version of the Penn Treebank, rare words have been replaced by `<unk>` and numbers by `N`.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from pathlib import Path

from mt_nn.errors import FileError, files_needed
from mt_nn.files.reading import PathLike, opened


def read_text(path: PathLike) -> str:
    """Return the text in a UTF-8 file, with its line ends.

    `Vocabulary(sorted(set(text)))` is a vocabulary of its characters.

    Args:
        path: the path of the file, which may be compressed with gzip.

    Raises:
        FileError: the file cannot be read, is damaged or not UTF-8, or exceeds `mt_nn.limits`.
    """
    with opened(path) as source:
        content = source.read_all()
        # A character outside the Basic Multilingual Plane makes Python store 4 bytes for each.
        source.allowance.take("memory", len(content) * (1 if content.isascii() else 4))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path}, line {line}: not UTF-8 ({error.reason}).") from error


def find(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder, which may be compressed, with the suffix `.gz`.

    Raises:
        FileError: the file is missing, or the folder cannot be read.
    """
    path = find_optional(folder, name)
    if path is None:
        raise FileError(
            f"{folder} does not contain {name} or {name}.gz: pass the folder that does, or copy "
            "the file there."
        )
    return path


def find_optional(folder: Path, name: str) -> Path | None:
    """Return the path of a file as `find` does; None if the file is missing.

    Raises:
        FileError: the folder cannot be read.
    """
    for path in (folder / name, folder / f"{name}.gz"):
        with files_needed(f"could not read {path}"):  # no permission, or the name is too long
            if path.exists():
                return path
    return None


# --- The Penn Treebank ----------------------------------------------------------------------------


def read_penn_treebank(path: PathLike, end: str = "<eos>") -> list[str]:
    """Return the words of a text, with an additional token after each line.

    Args:
        path: the path of the file, which may be compressed with gzip.
        end: the token after each line.

    Raises:
        FileError: the file cannot be read, is damaged or not UTF-8, or exceeds `mt_nn.limits`.
    """
    lines = io.StringIO(read_text(path))
    return [word for line in lines for word in (*line.split(), end)]


# --- Labeled sentences ----------------------------------------------------------------------------


SST2_HEADER = "sentence\tlabel"


def read_sst2(path: PathLike) -> list[tuple[str, int]]:
    """Return the sentences of SST-2's `train.tsv` or `dev.tsv`: a header, then text and label.

    Args:
        path: the path of the file, which may be compressed with gzip.

    Returns:
        Pairs of a sentence and its label: 0 for negative, 1 for positive.

    Raises:
        FileError: the file cannot be read, is damaged or not UTF-8, or exceeds `mt_nn.limits`; the
            header is missing, or a line is not a sentence, a tab, and 0 or 1.
    """
    header, _, rows = read_text(path).partition("\n")
    if header.rstrip("\r") != SST2_HEADER:
        raise FileError(
            f"{path} is not an SST-2 file with labels: its first line is {header[:80]!r}, not "
            f"{SST2_HEADER!r}. (The labels of test.tsv were never published.)"
        )
    sentences = []
    for number, (text, label) in _fields(path, rows, 2, first=2):
        if label not in ("0", "1"):
            raise FileError(f"{path}, line {number}: a label must be 0 or 1; got {label[:80]!r}.")
        sentences.append((text.strip(), int(label)))
    return sentences


def read_movie_reviews(path: PathLike) -> list[tuple[str, int]]:
    """Return the sentences of `movieReviewSnippets_GroundTruth.txt` by Hutto and Gilbert (2014).

    Each line consists of a number, the mean of human ratings from -4 to 4, and the sentence, which
    is labeled positive if the rating is above 0.

    Args:
        path: the path of the file, which may be compressed with gzip.

    Returns:
        Pairs of a sentence and its label: 0 for negative, 1 for positive.

    Raises:
        FileError: the file cannot be read, is damaged or not UTF-8, or exceeds `mt_nn.limits`; or a
            line is not a number, a rating and a sentence, separated by tabs.
    """
    sentences = []
    for number, (_, text, sentence) in _fields(path, read_text(path), 3):
        try:
            rating = float(text)
        except ValueError:
            rating = math.nan
        if not -4 <= rating <= 4:
            raise FileError(
                f"{path}, line {number}: a rating must be a number from -4 to 4; got {text[:80]!r}."
            )
        sentences.append((sentence.strip(), int(rating > 0)))
    return sentences


def _fields(
    path: PathLike, rows: str, count: int, first: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Yield the numbers of lines, and their tab-separated fields.

    Raises:
        FileError: a line has another number of fields than `count`.
    """
    for number, line in enumerate(io.StringIO(rows), first):
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) != count:
            raise FileError(
                f"{path}, line {number}: {count} tab-separated fields expected, {len(fields)} "
                "found."
            )
        yield number, fields
