"""Sentences that are classed as negative or positive: SST-2, and rated sentences of reviews.

Both are lines of fields between tabs, without quoting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mt_nn.core.dataset import Dataset
from mt_nn.core.settings import integer
from mt_nn.data.formats.reading import lines_of
from mt_nn.data.vocabulary import Vocabulary, tokenize
from mt_nn.errors import FileError, SettingError
from mt_nn.files.reading import PathLike, opened
from mt_tensor import Tensor, tensor

SST2_HEADER = "sentence\tlabel"


class Sentences(NamedTuple):
    """What a file of sentences holds.

    Attributes:
        texts: the sentences.
        labels: their classes, int64 of shape (count,): 0 for negative, 1 for positive.
    """

    texts: list[str]
    labels: npt.NDArray[np.int64]


def read_sst2(path: PathLike) -> Sentences:
    """Return the sentences of SST-2's `train.tsv` or `dev.tsv`: a header, then text and class.

    Args:
        path: where the file is, plain or packed with gzip.

    Raises:
        FileError: it cannot be read, is damaged, no UTF-8, or takes more than `mt_nn.limits` allow;
            it lacks the header, or a line is no sentence and 0 or 1, a tab between them.
    """
    texts, labels = [], []
    with opened(path) as source:
        lines = lines_of(path, source)
        header = next(lines, (1, ""))[1]
        if header != SST2_HEADER:
            raise FileError(
                f"{path} is no file of SST-2 with classes: its first line is {header[:80]!r}, not "
                f"{SST2_HEADER!r}. (The classes of test.tsv were never published.)"
            )
        for number, line in lines:
            text, label = _fields(path, number, line, 2)
            if label not in ("0", "1"):
                raise FileError(f"{path}, line {number}: a class is 0 or 1, not {label[:80]!r}.")
            texts.append(text.strip())
            labels.append(int(label))
            source.keep(texts[-1])
    return Sentences(texts, np.array(labels, np.int64))


def read_movie_reviews(path: PathLike) -> Sentences:
    """Return the sentences of `movieReviewSnippets_GroundTruth.txt` by Hutto and Gilbert (2014).

    Each line has a number, the mean of human ratings from -4 to 4, and the sentence, which is
    positive where the rating is above 0.

    Args:
        path: where the file is, plain or packed with gzip.

    Raises:
        FileError: it cannot be read, is damaged, no UTF-8, or takes more than `mt_nn.limits` allow;
            or a line is no number, rating and sentence, tabs between them.
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
            f"{path}, line {number}: {count} fields with tabs between them are wanted, "
            f"{len(fields)} found."
        )
    return fields


def _rating(path: PathLike, number: int, text: str) -> float:
    try:
        rating = float(text)
    except ValueError:
        rating = math.nan
    if not -4 <= rating <= 4:
        raise FileError(
            f"{path}, line {number}: a rating is a number from -4 to 4, not {text[:80]!r}."
        )
    return rating


class SentenceDataset(Dataset):
    """Sentences as numbers of words, each with its class; `pad_collate` makes batches of them.

    Args:
        texts: the sentences.
        labels: their classes.
        vocabulary: gives words their numbers.
        tokenizer: cuts a sentence into words.
        max_length: how many words are kept of a longer sentence; all with None.

    Raises:
        SettingError: sentences and classes differ in number, or `max_length` is no positive
            integer.
        InputError: a word is unknown, and the vocabulary has no token for that.
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
                f"each sentence has one class; {len(texts)} and {len(labels)} were given."
            )
        if max_length is not None:
            integer("max_length", max_length, 1)
        self.sentences = [
            np.array(vocabulary.encode(tokenizer(text)[:max_length]), np.int64) for text in texts
        ]
        self.labels = np.asarray(labels)

    def __len__(self) -> int:
        """Return how many sentences there are."""
        return len(self.sentences)

    def __getitem__(self, index: int) -> tuple[Tensor, Any]:
        """Return a sentence, int64 of shape (length,), and its class."""
        return tensor(self.sentences[index]), self.labels[index].item()
