"""Sequences of different lengths in one batch: padded to a common length, or packed without gaps.

A packed batch holds the first elements of all sequences, then the second ones of those that have
any, and so on; for this the sequences are sorted, the longest first. Which elements these are is
worked out on the host, and so lengths and what follows from them stay in its memory, wherever the
elements are: a device is told what to read, and never asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, pad, stack, tensor, where
from mt_tensor.extending import Array, require_tensors

# fmt: off
__all__ = [
    "PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]
# fmt: on


class PackedSequence(NamedTuple):
    """A batch of sequences without gaps; made by `pack_padded_sequence` and `pack_sequence`.

    Attributes:
        data: shape (elements of all sequences, *features).
        batch_sizes: how many sequences have a first, a second, ... element; shape (steps,), on the
            host, as are the others.
        sorted_indices: which sequence of the given batch is the longest, the next, ...; None if
            they were given in this order.
        unsorted_indices: where each sequence of the given batch is now, or None.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def lengths(self) -> Array:
        """Return the lengths of the sequences, the longest first."""
        sizes = np.array(self.batch_sizes)
        found: Array = (sizes[:, None] > np.arange(sizes[0])).sum(0)
        return found


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Return sequences as one tensor, the shorter ones filled up.

    Args:
        sequences: each of shape (length, *features).
        batch_first: whether the batch is the first dimension of the result instead of the second.
        padding_value: what to fill with.
        padding_side: whether to fill on the "right", after the sequence, or on the "left".

    Returns:
        Shape (greatest length, batch, *features).

    Raises:
        InputError: there are no sequences, or their features differ in shape.
        SettingError: `padding_side` is neither.
    """
    if padding_side not in ("left", "right"):
        raise SettingError(f"padding_side is 'left' or 'right'; {padding_side!r} was given.")
    sequences = _checked(sequences)
    longest = max(len(sequence) for sequence in sequences)
    padded = []
    for sequence in sequences:
        missing = longest - len(sequence)
        sides = (missing, 0) if padding_side == "left" else (0, missing)
        margins = (*(0, 0) * (sequence.ndim - 1), *sides)
        padded.append(pad(sequence, margins, value=padding_value) if missing else sequence)
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False
) -> list[Tensor]:
    """Return the sequences that `pad_sequence` has put together, on the right.

    Raises:
        InputError: the lengths do not fit the padded sequences.
    """
    require_tensors("unpad_sequence", padded_sequences)
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    known = _checked_lengths("unpad_sequence", rows, lengths)
    return [row[:length] for row, length in zip(rows.unbind(), known.tolist(), strict=True)]


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Return padded sequences packed without the gaps.

    Args:
        input: shape (steps, batch, *features); the sequences begin at the first step.
        lengths: those of the sequences, at least 1 each.
        batch_first: whether the input has shape (batch, steps, *features).
        enforce_sorted: whether to refuse sequences that are not sorted, the longest first;
            otherwise they are sorted, and unpacked in the given order.

    Raises:
        InputError: the lengths do not fit the input, or are not sorted.
    """
    require_tensors("pack_padded_sequence", input)
    rows = input if batch_first else input.transpose(0, 1)
    known = _checked_lengths("pack_padded_sequence", rows, lengths)
    order: Array = np.argsort(-known, kind="stable")
    if enforce_sorted and (np.diff(known) > 0).any():
        raise InputError(
            f"the lengths {known.tolist()} are not sorted, the longest first: sort the sequences, "
            "or pass enforce_sorted=False."
        )
    seen = np.arange(known.max())[:, None] < known[order]  # shape (steps, batch)
    steps, places = np.nonzero(seen)
    data = rows[_index(order[places], input), _index(steps, input)]
    sizes = _on_host(seen.sum(1), input)
    if enforce_sorted:
        return PackedSequence(data, sizes)
    return PackedSequence(data, sizes, _on_host(order, input), _on_host(np.argsort(order), input))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return packed sequences padded to one length, in the order in which they were given.

    Args:
        sequence: what `pack_padded_sequence` returned.
        batch_first: whether the batch is the first dimension of the result instead of the second.
        padding_value: what to fill with.
        total_length: how long they become; as long as the longest if None.

    Returns:
        The sequences, shape (steps, batch, *features), and their lengths, on the host.

    Raises:
        InputError: a sequence is longer than `total_length`.
    """
    data = sequence.data
    lengths = sequence.lengths()
    steps = int(lengths[0]) if total_length is None else integer("total_length", total_length, 1)
    if steps < lengths[0]:
        raise InputError(f"a sequence of {lengths[0]} steps is longer than total_length={steps}.")
    if sequence.unsorted_indices is not None:
        order = np.array(sequence.unsorted_indices)
    else:
        order = np.arange(len(lengths))
    starts = np.cumsum([0, *np.array(sequence.batch_sizes)[:-1]])
    seen = np.arange(steps)[:, None] < lengths[order]
    rows = np.where(seen, np.resize(starts, steps)[:, None] + order, 0)
    features = (1,) * (data.ndim - 1)
    mask = tensor(seen.reshape(*seen.shape, *features), backend=data.backend)
    padded: Any = where(mask, data[_index(rows, data)], padding_value)
    known = _on_host(lengths[order], data)
    return (padded.transpose(0, 1) if batch_first else padded), known


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Return sequences of shape (length, *features) each packed without gaps.

    Raises:
        InputError: there are no sequences, one is empty, their features differ in shape, or they
            are not sorted, the longest first, though `enforce_sorted` says so.
    """
    sequences = _checked(sequences)
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences of a batch that `pack_sequence` made, each of its own length."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def _checked(sequences: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return sequences that can be put into one batch."""
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind()
    require_tensors("pad_sequence", *sequences)
    shapes = [sequence.shape for sequence in sequences]
    if not shapes or () in shapes or len({shape[1:] for shape in shapes}) > 1:
        raise InputError(
            "sequences of one batch have shape (length, *features) each, with the same features; "
            f"{', '.join(map(str, shapes)) or 'none'} were given."
        )
    return sequences


def _checked_lengths(name: str, rows: Tensor, lengths: Any) -> Array:
    """Return lengths as integers of NumPy, of as many sequences of which each has a step."""
    known = np.array(lengths)
    fits = (
        rows.ndim > 1 and known.shape == rows.shape[:1] and known.size and known.dtype.kind in "iu"
    )
    if not fits or known.min() < 1 or known.max() > rows.shape[1]:
        raise InputError(
            f"{name}() takes a length from 1 to the number of steps for each sequence; "
            f"{known.tolist()} were given for {rows.shape[0]} sequence(s) of shape "
            f"{rows.shape[1:]}."
        )
    found: Array = known.astype(np.int64)
    return found


def _index(numbers: Array, like: Tensor) -> Tensor:
    """Return numbers as an index into a tensor."""
    return tensor(numbers, backend=like.backend)


def _on_host(numbers: Array, like: Tensor) -> Tensor:
    """Return numbers that no device needs to know."""
    return like.new_tensor(numbers, dtype="int64", device="cpu")
