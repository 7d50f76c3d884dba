"""Text as numbers: tokens, a vocabulary that counts and numbers them, and windows of a long text.

For backpropagation through time that is cut off after some steps, a text is cut into as many parts
as make a batch, which are read side by side. Each window goes on where the one before has ended, so
that a model can keep its state from one to the next.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mt_nn.core.dataset import Dataset
from mt_nn.core.settings import integer
from mt_nn.errors import FileError, InputError, SettingError
from mt_nn.files.reading import PathLike, read_bytes
from mt_nn.files.writing import write_atomically
from mt_tensor import Tensor, tensor

TOKEN = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")


def tokenize(text: str) -> list[str]:
    """Return the words of a text in lower case, each other mark that is no space by itself.

    >>> tokenize("It's good, isn't it?")
    ["it's", 'good', ',', "isn't", 'it', '?']
    """
    return TOKEN.findall(text.lower())


class Vocabulary:
    """Tokens with their numbers, from 0.

        >>> vocabulary = Vocabulary.build("to be or not to be".split(), padding="<pad>")
        >>> vocabulary.encode(["to", "do"]), vocabulary.decode([2, 4])
        ([3, 1], ['be', 'not'])

    Args:
        tokens: in the order of their numbers.
        unknown: the token that stands for all which are not in the vocabulary; with None there is
            none. It must be among `tokens`.
        padding: the token that fills sentences up, likewise.

    Raises:
        SettingError: a token occurs twice or is no string, or unknown or padding is not among them.
    """

    def __init__(
        self, tokens: Iterable[str], unknown: str | None = None, padding: str | None = None
    ) -> None:
        self.tokens = list(tokens)
        if not all(isinstance(token, str) for token in self.tokens):
            raise SettingError("the tokens of a vocabulary are strings; something else was given.")
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
        """Return the vocabulary of a text: padding, unknown, then what is most frequent first.

        Args:
            tokens: those of the text. Equally frequent ones come in alphabetical order.
            min_frequency: how often a token must occur.
            max_size: how many tokens the vocabulary may have, with padding and unknown.
            unknown: the token for all others; None for none.
            padding: the token that fills sentences up; None for none.

        Raises:
            SettingError: a number is out of range, or padding and unknown are the same.
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
        """Return how many tokens there are."""
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._numbers

    def __getitem__(self, token: str) -> int:
        """Return the number of a token, or that of the unknown one.

        Raises:
            InputError: it is not in the vocabulary, which has no token for unknown ones.
        """
        return self.encode([token])[0]

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Return the numbers of tokens; each that is not in the vocabulary gets that of `unknown`.

        Raises:
            InputError: one is not in the vocabulary, which has no token for unknown ones.
        """
        numbers = self._numbers
        if self.unknown is not None:
            unknown = numbers[self.unknown]
            return [numbers.get(token, unknown) for token in tokens]
        try:
            return [numbers[token] for token in tokens]
        except KeyError as error:
            raise InputError(
                f"token {error.args[0]!r} is not in the vocabulary, which has no token for "
                "unknown ones."
            ) from None

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """Return the tokens of numbers.

        Raises:
            InputError: there is no token of such a number.
        """
        tokens = []
        for number in map(int, numbers):
            if not 0 <= number < len(self):
                raise InputError(
                    f"tokens are numbered from 0 to {len(self) - 1}; {number} was given."
                )
            tokens.append(self.tokens[number])
        return tokens

    def save(self, path: PathLike) -> None:
        """Write the vocabulary as JSON.

        Raises:
            FileError: it could not be written; an earlier file of that name is untouched.
        """
        content = {"unknown": self.unknown, "padding": self.padding, "tokens": self.tokens}
        try:
            text = json.dumps(content, ensure_ascii=False, indent=0).encode()
        except UnicodeEncodeError:  # half a surrogate pair has no UTF-8, but an escape
            text = json.dumps(content, indent=0).encode()
        write_atomically(path, text)

    @classmethod
    def load(cls, path: PathLike) -> Vocabulary:
        """Read what `save` has written.

        Raises:
            FileError: the file cannot be read, is no vocabulary, or takes more than `mt_nn.limits`
                allow.
        """
        content = read_bytes(path, "json")
        try:
            given = json.loads(content)
            if not isinstance(given["tokens"], list):
                raise TypeError("tokens are no list")
            return cls(given["tokens"], given["unknown"], given["padding"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise FileError(f"{path} is damaged, or no vocabulary ({error!r}).") from error


# --- Windows of a long text -----------------------------------------------------------------------


def batchify(tokens: Sequence[int] | Tensor, batch_size: int) -> Tensor:
    """Return a text cut into equal parts, one a column; what does not fill a row is left out.

        >>> batchify(range(7), 3).tolist()
        [[0, 2, 4], [1, 3, 5]]

    Args:
        tokens: integers in order.
        batch_size: how many parts.

    Returns:
        int64, shape (length of a part, batch_size).

    Raises:
        InputError: the tokens are no row of integers, or too few.
        SettingError: the batch size is no positive integer.
    """
    batch_size = integer("batch_size", batch_size, 1)
    row = np.asarray(tokens)
    if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
        raise InputError(
            f"batchify() takes a row of integers; {row.ndim} dimension(s) with elements of "
            f"type {row.dtype} were given."
        )
    length = len(row) // batch_size
    if not length:
        raise InputError(f"{len(row)} token(s) are too few for {batch_size} parts.")
    parts = row[: length * batch_size].reshape(batch_size, length)
    return tensor(np.ascontiguousarray(parts.T, np.int64))


class BPTTWindows(Dataset):
    """Consecutive windows of a text, each with what comes one token later.

        >>> for inputs, targets in BPTTWindows(batchify(range(8), 2), bptt=2):
        ...     print(inputs.tolist(), targets.tolist())
        [[0, 4], [1, 5]] [[1, 5], [2, 6]]
        [[2, 6]] [[3, 7]]

    Args:
        text: shape (length, batch, ...), as `batchify` returns.
        bptt: how many steps a window has; the last one may be shorter.

    Raises:
        InputError: the text has no dimension for the batch, or fewer than two steps.
        SettingError: `bptt` is no positive integer.
    """

    def __init__(self, text: Tensor, bptt: int) -> None:
        self.bptt = integer("bptt", bptt, 1)
        if text.ndim < 2 or len(text) < 2:
            raise InputError(
                "a text has shape (length, batch), with at least two steps, so that each window "
                f"has a next token; {text.shape} was given. batchify() makes one."
            )
        self.text = text

    def __len__(self) -> int:
        """Return how many windows there are."""
        return math.ceil((len(self.text) - 1) / self.bptt)

    def __getitem__(self, index: int) -> Any:
        """Return inputs and targets, both of shape (steps, batch, ...).

        Raises:
            IndexError: there is no window of that number.
        """
        if not -len(self) <= index < len(self):
            raise IndexError(f"window {index} of {len(self)} was asked for.")
        start = index % len(self) * self.bptt
        end = min(start + self.bptt, len(self.text) - 1)
        return self.text[start:end], self.text[start + 1 : end + 1]
