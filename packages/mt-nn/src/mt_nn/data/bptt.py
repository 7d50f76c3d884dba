"""A long text for training with backpropagation through time that is cut off after some steps.

The text is cut into as many parts as make a batch, which are read side by side. Each window goes on
where the one before has ended, so that a model can keep its state from one to the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.core.dataset import Dataset
from mt_nn.core.settings import integer
from mt_nn.errors import InputError
from mt_tensor import Tensor, tensor


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
            f"batchify() takes a row of whole numbers; {row.ndim} dimension(s) with elements of "
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
