"""Readers of texts and of labelled sentences.

Files of sentences (SST-2, movie reviews) have tab-separated fields without quoting. In the usual
version of the Penn Treebank, rare words have been replaced by `<unk>` and numbers by `N`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mt_nn.core.dataset import Dataset
from mt_nn.core.settings import integer
from mt_nn.data.vocabulary import Vocabulary, tokenize
from mt_nn.errors import FileError, SettingError, files_needed
from mt_nn.files.reading import PathLike, Source, opened
from mt_tensor import Tensor, tensor


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


def lines_of(path: PathLike, source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 text, without line ends, with their numbers from 1.

    Raises:
        FileError: a line is not UTF-8, or a limit is exceeded.
    """
    for number, line in source.lines():
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise FileError(f"{path}, line {number}: not UTF-8 ({error.reason}).") from error
        yield number, text.rstrip("\r\n")


def find(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder, which may be compressed, with the suffix `.gz`.

    Raises:
        FileError: there is no such file, or the folder cannot be read.
    """
    path = find_optional(folder, name)
    if path is None:
        raise FileError(
            f"{folder} does not contain {name} or {name}.gz: pass the folder that does, or copy "
            "the file there."
        )
    return path


def find_optional(folder: Path, name: str) -> Path | None:
    """Return the path of a file like `find`; None if there is none.

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
    words: list[str] = []
    known: dict[str, str] = {}  # equal words share one string
    with opened(path) as source:
        for _, line in lines_of(path, source):
            for word in line.split():
                if word not in known:
                    known[word] = word
                    source.keep(word)
                words.append(known[word])
            words.append(end)
    return words


# --- Labelled sentences ---------------------------------------------------------------------------


SST2_HEADER = "sentence\tlabel"


class Sentences(NamedTuple):
    """Labelled sentences.

    Attributes:
        texts: the sentences.
        labels: their labels, int64 of shape (count,): 0 for negative, 1 for positive.
    """

    texts: list[str]
    labels: npt.NDArray[np.int64]


def read_sst2(path: PathLike) -> Sentences:
    """Return the sentences of SST-2's `train.tsv` or `dev.tsv`: a header, then text and label.

    Args:
        path: the path of the file, which may be compressed with gzip.

    Raises:
        FileError: the file cannot be read, is damaged or not UTF-8, or exceeds `mt_nn.limits`; the
            header is missing, or a line is not a sentence, a tab, and 0 or 1.
    """
    texts, labels = [], []
    with opened(path) as source:
        lines = lines_of(path, source)
        header = next(lines, (1, ""))[1]
        if header != SST2_HEADER:
            raise FileError(
                f"{path} is not an SST-2 file with labels: its first line is {header[:80]!r}, not "
                f"{SST2_HEADER!r}. (The labels of test.tsv were never published.)"
            )
        for number, line in lines:
            text, label = _fields(path, number, line, 2)
            if label not in ("0", "1"):
                raise FileError(
                    f"{path}, line {number}: a label must be 0 or 1; got {label[:80]!r}."
                )
            texts.append(text.strip())
            labels.append(int(label))
            source.keep(texts[-1])
    return Sentences(texts, np.array(labels, np.int64))


def read_movie_reviews(path: PathLike) -> Sentences:
    """Return the sentences of `movieReviewSnippets_GroundTruth.txt` by Hutto and Gilbert (2014).

    Each line consists of a number, the mean of human ratings from -4 to 4, and the sentence, which
    is labelled positive if the rating is above 0.

    Args:
        path: the path of the file, which may be compressed with gzip.

    Raises:
        FileError: the file cannot be read, is damaged or not UTF-8, or exceeds `mt_nn.limits`; or a
            line is not a number, a rating and a sentence, separated by tabs.
    """
    texts, labels = [], []
    with opened(path) as source:
        for number, line in lines_of(path, source):
            _, rating, text = _fields(path, number, line, 3)
            texts.append(text.strip())
            labels.append(_rating(path, number, rating) > 0)
            source.keep(texts[-1])
    return Sentences(texts, np.array(labels, np.int64))


def _fields(path: PathLike, number: int, line: str, count: int) -> list[str]:
    fields = line.split("\t")
    if len(fields) != count:
        raise FileError(
            f"{path}, line {number}: {count} tab-separated fields expected, {len(fields)} found."
        )
    return fields


def _rating(path: PathLike, number: int, text: str) -> float:
    try:
        rating = float(text)
    except ValueError:
        rating = math.nan
    if not -4 <= rating <= 4:
        raise FileError(
            f"{path}, line {number}: a rating must be a number from -4 to 4; got {text[:80]!r}."
        )
    return rating


class SentenceDataset(Dataset):
    """A data set of sentences, as numbers of words, with labels; see `pad_collate` for batches.

    Args:
        texts: the sentences.
        labels: their labels.
        vocabulary: maps words to numbers.
        tokenizer: splits a sentence into words.
        max_length: the number of words after which sentences are truncated; None for no limit.

    Raises:
        SettingError: the numbers of sentences and labels differ, or `max_length` is not a positive
            integer.
        InputError: a word is unknown, and the vocabulary has no unknown token.
    """

    def __init__(
        self,
        texts: Sequence[str],
        labels: Sequence[int] | npt.NDArray[np.int64],
        vocabulary: Vocabulary,
        tokenizer: Callable[[str], Sequence[str]] = tokenize,
        max_length: int | None = None,
    ) -> None:
        if len(texts) != len(labels):
            raise SettingError(
                f"SentenceDataset takes one label per sentence; {len(texts)} sentences and "
                f"{len(labels)} labels were given."
            )
        if max_length is not None:
            integer("max_length", max_length, 1)
        self.sentences = [
            np.array(vocabulary.encode(tokenizer(text)[:max_length]), np.int64) for text in texts
        ]
        self.labels = np.asarray(labels)

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.sentences)

    def __getitem__(self, index: int) -> tuple[Tensor, Any]:
        """Return a sentence, int64 of shape (length,), and its label."""
        return tensor(self.sentences[index]), self.labels[index].item()
