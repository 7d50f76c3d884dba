"""Tokens, vocabularies that map them to integers, and windows of a long text.

For truncated backpropagation through time, a text is divided into one part per sequence of the
batch. Each window continues where the previous one ended, so that a recurrent network can keep its
hidden state from one window to the next.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mt_nn.core.dataset import Dataset
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, tensor

TOKEN = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")


def tokenize(text: str) -> list[str]:
    """Split a text into words, in lower case, and punctuation marks."""
    return TOKEN.findall(text.lower())


class Vocabulary:
    """A mapping from tokens to integers, numbered from 0, and back.

    Args:
        tokens: the tokens, in the order of their numbers.
        unknown: the token, among `tokens`, that replaces tokens outside the vocabulary; None to
            raise an error instead.
        padding: the token, among `tokens`, that pads sentences; None for no such token.

    Raises:
        SettingError: a token occurs twice or is not a string, or `unknown` or `padding` is not
            among the tokens.
    """

    def __init__(
        self, tokens: Iterable[str], unknown: str | None = None, padding: str | None = None
    ) -> None:
        self.tokens = list(tokens)
        if not all(isinstance(token, str) for token in self.tokens):
            types = ", ".join(sorted({type(token).__name__ for token in self.tokens}))
            raise SettingError(f"the tokens of a Vocabulary must be strings; got types {types}.")
        self._numbers = {token: number for number, token in enumerate(self.tokens)}
        if len(self._numbers) < len(self.tokens):
            twice = next(token for token, times in Counter(self.tokens).items() if times > 1)
            raise SettingError(f"token {twice!r} occurs twice in the vocabulary.")
        for name, special in (("unknown", unknown), ("padding", padding)):
            if special is not None and special not in self._numbers:
                raise SettingError(f"{name} token {special!r} must be among the tokens.")
        self.unknown, self.padding = unknown, padding

    @classmethod
    def build(
        cls,
        tokens: Iterable[str],
        min_frequency: int = 1,
        max_size: int | None = None,
        unknown: str | None = "<unk>",
        padding: str | None = None,
    ) -> Vocabulary:
        """Build the vocabulary of a text: padding, unknown, then tokens by decreasing frequency.

        Args:
            tokens: the tokens of the text. Equally frequent ones are sorted alphabetically.
            min_frequency: the smallest number of occurrences of a token.
            max_size: the largest size of the vocabulary, including padding and unknown.
            unknown: the token that replaces all others; None to raise an error instead.
            padding: the token that pads sentences; None for no such token.

        Raises:
            SettingError: a number is out of range, or `padding` and `unknown` are equal.
        """
        integer("min_frequency", min_frequency, 1)
        special = [token for token in (padding, unknown) if token is not None]
        if max_size is not None:
            integer("max_size", max_size, len(special))
        counts = Counter(tokens)
        for token in special:
            counts.pop(token, None)
        frequent = sorted(
            (token for token, times in counts.items() if times >= min_frequency),
            key=lambda token: (-counts[token], token),
        )
        return cls([*special, *frequent][:max_size], unknown, padding)

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._numbers

    def __getitem__(self, token: str) -> int:
        """Return the number of a token, or of `unknown`.

        Raises:
            InputError: the token is not in the vocabulary, and `unknown` is None.
        """
        return self.encode([token])[0]

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Return the numbers of tokens; that of `unknown` for tokens outside the vocabulary.

        Raises:
            InputError: a token is not in the vocabulary, and `unknown` is None.
        """
        numbers = self._numbers
        if self.unknown is not None:
            unknown = numbers[self.unknown]
            return [numbers.get(token, unknown) for token in tokens]
        try:
            return [numbers[token] for token in tokens]
        except KeyError as error:
            raise InputError(
                f"token {error.args[0]!r} is not in the vocabulary, which has no unknown token."
            ) from None

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """Return the tokens with the given numbers.

        Raises:
            InputError: a number is out of range.
        """
        tokens = []
        for number in map(int, numbers):
            if not 0 <= number < len(self):
                raise InputError(
                    f"tokens are numbered from 0 to {len(self) - 1}; {number} was given."
                )
            tokens.append(self.tokens[number])
        return tokens


# --- Windows of a long text -----------------------------------------------------------------------


def batchify(tokens: Sequence[int] | Tensor, batch_size: int) -> Tensor:
    """Divide a text into parts of equal length, one per column; drop the remainder.

    Args:
        tokens: the integers of the text, 1-D.
        batch_size: the number of parts.

    Returns:
        int64, shape (length of a part, batch_size).

    Raises:
        InputError: the tokens are not 1-D integers, or too few.
        SettingError: `batch_size` is not a positive integer.
    """
    batch_size = integer("batch_size", batch_size, 1)
    row = np.asarray(tokens)
    if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
        raise InputError(f"batchify() takes 1-D integers; {row.ndim}-D {row.dtype} was given.")
    length = len(row) // batch_size
    if not length:
        raise InputError(f"batchify(): {len(row)} token(s) are too few for {batch_size} parts.")
    parts = row[: length * batch_size].reshape(batch_size, length)
    return tensor(np.ascontiguousarray(parts.T, np.int64))


class BPTTWindows(Dataset):
    """A data set of consecutive windows of a text, with the next tokens as targets.

    Args:
        text: shape (length, batch, ...), such as the result of `batchify`.
        bptt: the number of steps of a window; the last one may be shorter.

    Raises:
        InputError: the text has no batch dimension, or fewer than two steps.
        SettingError: `bptt` is not a positive integer.
    """

    def __init__(self, text: Tensor, bptt: int) -> None:
        self.bptt = integer("bptt", bptt, 1)
        if text.ndim < 2 or len(text) < 2:
            raise InputError(
                "BPTTWindows takes a text of shape (length, batch) with at least two steps; "
                f"shape {text.shape} was given. See batchify()."
            )
        self.text = text

    def __len__(self) -> int:
        """Return the number of windows."""
        return math.ceil((len(self.text) - 1) / self.bptt)

    def __getitem__(self, index: int) -> Any:
        """Return inputs and targets, both of shape (steps, batch, ...).

        Raises:
            IndexError: the index is out of range.
        """
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} windows.")
        start = index % len(self) * self.bptt
        end = min(start + self.bptt, len(self.text) - 1)
        return self.text[start:end], self.text[start + 1 : end + 1]
