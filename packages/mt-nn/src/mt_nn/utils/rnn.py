"""Batches of sequences of different lengths, padded to a common length or packed without gaps.

A packed batch contains the first elements of all sequences, then the second elements of those that
have one, and so on; the sequences are sorted by decreasing length. Indices are computed on the
host, so lengths are in host memory, wherever the elements are: values are never copied from a
device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mt_nn.core.settings import integer
from mt_nn.errors import InputError
from mt_nn.utils.settings import choice
from mt_tensor import Tensor, pad, stack, tensor, where
from mt_tensor.extending import Array, require_tensors

# fmt: off
__all__ = [
    "PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]
# fmt: on


class PackedSequence(NamedTuple):
    """A packed batch of sequences; see `pack_padded_sequence` and `pack_sequence`.

    Attributes:
        data: shape (total number of elements, *features).
        batch_sizes: the number of sequences that have each step, shape (steps,), on the host.
        sorted_indices: the original indices of the sorted sequences, on the host; None if they were
            sorted.
        unsorted_indices: the inverse permutation, or None.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequences with data converted as by `Tensor.to`."""
        return self._replace(data=self.data.to(*args, **kwargs))

    def lengths(self) -> Array:
        """Return the lengths of the sequences, the longest first."""
        sizes = np.array(self.batch_sizes)
        lengths: Array = (sizes[:, None] > np.arange(sizes[0])).sum(0)
        return lengths


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Pad sequences to the length of the longest, and stack them.

    Args:
        sequences: tensors of shape (length, *features).
        batch_first: whether the batch is the first dimension of the result instead of the second.
        padding_value: the value of the padding.
        padding_side: whether to pad on the "right", after the sequence, or on the "left".

    Returns:
        Shape (largest length, batch, *features).

    Raises:
        InputError: there are no sequences, or their features differ in shape.
        SettingError: `padding_side` is invalid.
    """
    choice("padding_side", padding_side, ("left", "right"))
    sequences = _checked("pad_sequence", sequences)
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
    """Return the sequences in the result of `pad_sequence`, which must be padded on the right.

    Args:
        padded_sequences: shape (steps, batch, ...), or (batch, steps, ...) with `batch_first`.
        lengths: the length of each sequence.
        batch_first: whether the first dimension is the batch.

    Raises:
        InputError: the lengths do not match the padded sequences.
    """
    require_tensors("unpad_sequence", padded_sequences)
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    counts = _checked_lengths("unpad_sequence", rows, lengths)
    return [row[:length] for row, length in zip(rows.unbind(), counts.tolist(), strict=True)]


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack padded sequences.

    Args:
        input: shape (steps, batch, *features); padded at the end.
        lengths: the lengths of the sequences, at least 1.
        batch_first: whether the input has shape (batch, steps, *features).
        enforce_sorted: whether lengths that are not sorted, the longest first, are an error;
            otherwise the sequences are sorted, and unpacked in the original order.

    Raises:
        InputError: the lengths do not match the input, or are not sorted.
    """
    require_tensors("pack_padded_sequence", input)
    rows = input if batch_first else input.transpose(0, 1)
    counts = _checked_lengths("pack_padded_sequence", rows, lengths)
    order: Array = np.argsort(-counts, kind="stable")
    if enforce_sorted and (np.diff(counts) > 0).any():
        raise InputError(
            f"pack_padded_sequence(): the lengths {counts.tolist()} are not sorted, the longest "
            "first: sort the sequences, or pass enforce_sorted=False."
        )
    mask = np.arange(counts.max())[:, None] < counts[order]  # shape (steps, batch)
    steps, columns = np.nonzero(mask)
    data = rows[_index(order[columns], input), _index(steps, input)]
    sizes = _on_host(mask.sum(1), input)
    if enforce_sorted:
        return PackedSequence(data, sizes)
    return PackedSequence(data, sizes, _on_host(order, input), _on_host(np.argsort(order), input))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Pad packed sequences to one length, in their original order.

    Args:
        sequence: the packed sequences.
        batch_first: whether the batch is the first dimension of the result instead of the second.
        padding_value: the value of the padding.
        total_length: the number of steps of the result; the largest length if None.

    Returns:
        The sequences, shape (steps, batch, *features), and their lengths, on the host.

    Raises:
        InputError: a sequence is longer than `total_length`.
    """
    data = sequence.data
    lengths = sequence.lengths()
    steps = int(lengths[0]) if total_length is None else integer("total_length", total_length, 1)
    if steps < lengths[0]:
        raise InputError(
            f"pad_packed_sequence(): a sequence of {lengths[0]} steps is longer than "
            f"total_length={steps}."
        )
    if sequence.unsorted_indices is not None:
        order = np.array(sequence.unsorted_indices)
    else:
        order = np.arange(len(lengths))
    starts = np.cumsum([0, *np.array(sequence.batch_sizes)[:-1]])
    present = np.arange(steps)[:, None] < lengths[order]
    rows = np.where(present, np.resize(starts, steps)[:, None] + order, 0)
    features = (1,) * (data.ndim - 1)
    mask = tensor(present.reshape(*present.shape, *features), backend=data.backend)
    padded: Any = where(mask, data[_index(rows, data)], padding_value)
    return (padded.transpose(0, 1) if batch_first else padded), _on_host(lengths[order], data)


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of shape (length, *features).

    Raises:
        InputError: there are no sequences, one is empty, their features differ in shape, or they
            are not sorted, the longest first, and `enforce_sorted` is set.
    """
    sequences = _checked("pack_sequence", sequences)
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences of a packed batch."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def _checked(name: str, sequences: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return the sequences after checking that they can form a batch."""
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind()
    require_tensors(name, *sequences)
    shapes = [sequence.shape for sequence in sequences]
    if not shapes or () in shapes or len({shape[1:] for shape in shapes}) > 1:
        raise InputError(
            f"{name}(): sequences must have shapes (length, *features) with the same features; "
            f"{', '.join(map(str, shapes)) or 'none'} were given."
        )
    return sequences


def _checked_lengths(name: str, rows: Tensor, lengths: Any) -> Array:
    """Return lengths as a NumPy array, after comparing them with padded sequences."""
    counts = np.array(lengths)
    fits = (
        rows.ndim > 1
        and counts.shape == rows.shape[:1]
        and counts.size
        and counts.dtype.kind in "iu"
    )
    if not fits or counts.min() < 1 or counts.max() > rows.shape[1]:
        raise InputError(
            f"{name}() takes one length per sequence, from 1 to the number of steps; "
            f"{counts.tolist()} were given for {rows.shape[0]} sequence(s) of shape "
            f"{rows.shape[1:]}."
        )
    found: Array = counts.astype(np.int64)
    return found


def _index(numbers: Array, like: Tensor) -> Tensor:
    """Return indices on the backend of a tensor."""
    return tensor(numbers, backend=like.backend)


def _on_host(numbers: Array, like: Tensor) -> Tensor:
    """Return an int64 tensor in host memory."""
    return like.new_tensor(numbers, dtype="int64", device="cpu")
