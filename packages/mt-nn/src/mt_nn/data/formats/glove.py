"""Word vectors in GloVe's text format: on each line a word and its numbers, spaces between them."""

from __future__ import annotations

from array import array
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from mt_nn.core.settings import integer
from mt_nn.data.formats.reading import lines_of
from mt_nn.data.vocabulary import Vocabulary
from mt_nn.errors import FileError, InputError
from mt_nn.files.reading import PathLike, opened
from mt_tensor import Tensor, tensor

LARGEST = float(np.finfo(np.float32).max)


class WordVectors:
    """Words with their vectors.

    Attributes:
        words: in the order of the file.
        vectors: float32, shape (words, width).
    """

    def __init__(self, words: list[str], vectors: npt.NDArray[np.float32]) -> None:
        self.words, self.vectors = words, vectors
        self._rows = {word: row for row, word in enumerate(words)}

    def __len__(self) -> int:
        """Return how many words there are."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._rows

    def __getitem__(self, word: str) -> Tensor:
        """Return the vector of a word, shape (width,).

        Raises:
            InputError: it has none.
        """
        if word not in self._rows:
            raise InputError(f"there is no vector of {word!r}.")
        return tensor(self.vectors[self._rows[word]])

    def table(self, vocabulary: Vocabulary) -> Tensor:
        """Return the weights of an embedding: for each token its vector, or zeros if it has none.

        Returns:
            float32, shape (tokens, width).
        """
        weights = np.zeros((len(vocabulary), self.vectors.shape[1]), np.float32)
        for number, token in enumerate(vocabulary.tokens):
            if token in self._rows:
                weights[number] = self.vectors[self._rows[token]]
        return tensor(weights)


def read_glove(
    path: PathLike,
    width: int | None = None,
    words: Collection[str] | Vocabulary | None = None,
) -> WordVectors:
    """Return the word vectors in a file.

    Args:
        path: where the file is, plain or packed with gzip.
        width: how many numbers a vector has; None for as many as on the first line. Where words
            contain spaces, as a few do in `glove.840B.300d.txt`, it must be given.
        words: the only ones wanted, so that memory is taken, and numbers are read, for no others;
            all with None.

    Returns:
        The words, of which one that comes again is left out, and their vectors.

    Raises:
        FileError: it cannot be read, is damaged, no UTF-8, or takes more than `mt_nn.limits` allow;
            it is empty, or a line has no word, another number of numbers, or one that is not
            finite.
        SettingError: the width is no positive integer.
    """
    width = None if width is None else integer("width", width, 1)
    wanted = None if words is None else words if isinstance(words, Vocabulary) else set(words)
    rows: dict[str, int] = {}
    numbers = array("f")
    with opened(path) as source:
        for number, line in lines_of(path, source):
            if width is None:
                width = _width(path, line)
            word, *fields = line.rstrip(" ").rsplit(" ", width)
            if len(fields) != width or not word:
                raise FileError(
                    f"{path}, line {number}: a word and {width} number(s) are wanted, "
                    f"{len(fields)} number(s) found after the first space."
                )
            if word not in rows and (wanted is None or word in wanted):
                rows[word] = len(rows)
                numbers.extend(_vector(path, number, fields))
                source.keep(word)
                source.allowance.take("memory", 2 * 4 * width)  # once more in the array below
    if width is None:
        raise FileError(f"{path} is empty: it holds no word vectors.")
    return WordVectors(list(rows), np.array(numbers, np.float32).reshape(len(rows), width))


def _width(path: PathLike, line: str) -> int:
    width = len(line.split()) - 1
    if width < 1:
        raise FileError(f"{path}, line 1: a word and its numbers are wanted, not {line[:80]!r}.")
    return width


def _vector(path: PathLike, number: int, fields: list[str]) -> list[float]:
    try:
        vector = [float(field) for field in fields]
    except ValueError as error:
        raise FileError(f"{path}, line {number}: no vector is made of this ({error}).") from error
    if not all(-LARGEST <= value <= LARGEST for value in vector) or "_" in "".join(fields):
        raise FileError(
            f"{path}, line {number}: a number is not finite, too large for float32, or written "
            "with an underscore."
        )
    return vector
