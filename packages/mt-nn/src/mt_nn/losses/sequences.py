"""CTC loss, for label sequences whose alignment to the input is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.core.arguments import checked
from mt_nn.core.losses import Reduction
from mt_nn.errors import InputError
from mt_nn.losses.differences import check_floating, reduce
from mt_nn.utils.settings import check
from mt_tensor import Function, Tensor, cat, full, fused, tensor, zeros
from mt_tensor.extending import Array

IMPOSSIBLE = -1e37
"""The logarithm of a probability of 0: below all sums of scores, but finite, and so are differences
of such values."""

Lengths = Tensor | Sequence[int] | int


@checked
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: Reduction = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the negative log-probability of label sequences, summed over all alignments.

    An alignment has a label or a blank at each time. Merging repeated labels, and then removing
    blanks, results in the sequence. Probabilities are summed with the forward recursion of Graves
    et al. 2006, "Connectionist Temporal Classification", equations 6 and 7, on logarithms.

    Args:
        log_probs: log-probabilities of labels, shape (time, batch, labels), or (time, labels).
        targets: sequences of labels, without blanks, integers of shape (batch, longest); or all
            sequences concatenated.
        input_lengths: the number of time steps of each sample.
        target_lengths: the length of each sequence.
        blank: the label that is the blank.
        reduction: "none", "sum", or "mean": divide the loss of each sample by its number of labels,
            and average.
        zero_infinity: whether the loss of sequences without an alignment, which are too long, is 0
            with a gradient of 0, instead of infinity with a gradient of nan.

    Raises:
        InputError: a shape, dtype or length is invalid.
        IndexingError: a label is out of range.
        SettingError: the reduction or the blank is invalid.
    """
    check_floating("ctc_loss", log_probs)
    if log_probs.ndim not in (2, 3) or targets.dtype.kind != "integer":
        raise InputError(
            "ctc_loss() takes log-probabilities of shape (time, batch, labels) or (time, labels) "
            f"and integers; shape {log_probs.shape} and {targets.dtype.name} were given."
        )
    batched = log_probs.ndim == 3
    scores = log_probs if batched else log_probs.unsqueeze(1)
    times, batch, labels = scores.shape
    check("blank", blank, 0 <= blank < labels, f"one of the {labels} labels")
    durations = _lengths("input_lengths", input_lengths, batch, times)
    lengths = _lengths("target_lengths", target_lengths, batch, None)
    states = _states(targets, lengths, blank, batched)
    scores = scores.float() if scores.dtype.is_narrow else scores
    tensors = [tensor(each, backend=scores.backend) for each in (states, durations, lengths)]
    losses = _negative_log_likelihood(scores, tensors[0], tensors[1], tensors[2], blank)
    infinite = losses.detach() > -0.5 * IMPOSSIBLE
    if zero_infinity:
        losses = losses.masked_fill(infinite, 0.0)
    elif infinite.any():
        running = tensor(np.arange(times)[:, None] < durations, backend=scores.backend)
        losses = _Infinite.apply(losses, scores, infinite, running)
    if reduction == "mean":
        losses = losses / tensor(np.maximum(lengths, 1), dtype=losses.dtype, backend=losses.backend)
    losses = losses.to(log_probs.dtype)
    return reduce(losses if batched else losses.reshape(()), reduction)


class _Infinite(Function):
    """Replace losses without an alignment with infinity, with a gradient of nan."""

    @staticmethod
    def forward(ctx: Any, losses: Tensor, scores: Tensor, infinite: Tensor, running: Tensor) -> Any:
        """Return the losses, with infinity where `infinite` is."""
        ctx.shape = scores.shape
        ctx.save_for_backward(infinite, running)
        return losses.masked_fill(infinite, float("inf"))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return nan for the scores of infinite losses, up to the end of their sample."""
        infinite, running = ctx.saved_tensors
        mask = (infinite & running).unsqueeze(2).expand(ctx.shape)
        d_scores = zeros(ctx.shape, dtype=grad.dtype, backend=grad.backend)
        d_scores = d_scores.masked_fill(mask, float("nan"))
        return grad.masked_fill(infinite, 0), d_scores, None, None


def _lengths(name: str, given: Lengths, batch: int, most: int | None) -> Array:
    """Check lengths, one for each sample, and return them as int64."""
    values = given.detach().numpy() if isinstance(given, Tensor) else np.asarray(given)
    values = values.reshape(-1)
    if values.shape != (batch,) or values.dtype.kind not in "iu":
        raise InputError(
            f"ctc_loss(): {name} must be {batch} integers, one for each sample; shape "
            f"{values.shape} of {values.dtype} was given."
        )
    if batch and (values.min() < 0 or (most is not None and values.max() > most)):
        expected = "non-negative" if most is None else f"from 0 to {most}"
        raise InputError(f"ctc_loss(): {name} must be {expected}; got {values.tolist()}.")
    return values.astype(np.int64)


def _states(targets: Tensor, lengths: Array, blank: int, batched: bool) -> Array:
    """Return the labels of each sample with blanks before, between and after them.

    Returns:
        Shape (batch, states).
    """
    batch, longest = len(lengths), int(lengths.max(initial=0))
    given = targets.detach().numpy()
    error = InputError(
        f"ctc_loss(): targets must have shape ({batch}, {longest} or more), or be concatenated; "
        f"{targets.shape} was given."
    )
    if longest > given.size:  # check this first, since arrays of this length may not fit in memory
        raise error
    inside = np.arange(longest) < lengths[:, None]
    rows = np.full((batch, longest), blank)
    if given.ndim == 1 and (batched or len(given) == lengths.sum()):
        if len(given) != lengths.sum():
            raise InputError(
                f"ctc_loss(): target_lengths add up to {lengths.sum()}, but there are {len(given)} "
                "targets."
            )
        rows[inside] = given
    else:
        given = given.reshape(1, -1) if given.ndim == 1 else given
        if given.ndim != 2 or len(given) != batch or given.shape[1] < longest:
            raise error
        rows[inside] = given[:, :longest][inside]
    states = np.full((batch, 2 * longest + 1), blank)
    states[:, 1::2] = rows
    return states


@fused("ctc")
def _negative_log_likelihood(
    scores: Tensor, states: Tensor, durations: Tensor, lengths: Tensor, blank: int
) -> Tensor:
    """Return the negative log-probability of the sequence of each sample, over all alignments.

    Args:
        scores: log-probabilities of labels, shape (time, batch, labels).
        states: the labels of each sample with blanks before, between and after, int64 of shape
            (batch, states).
        durations: the number of time steps of each sample, int64 of shape (batch,).
        lengths: the number of labels of each sample, without blanks, int64 of shape (batch,).
        blank: the label that is the blank.
    """
    backend = scores.backend
    times, batch, _ = scores.shape
    count = states.shape[1]
    emitted = scores.clamp_min(IMPOSSIBLE).gather(2, states.expand(times, batch, count))
    labels = states.numpy()
    needs_previous = np.ones(labels.shape, bool)  # whether the state before cannot be skipped
    needs_previous[:, 2:] = (labels[:, 2:] == blank) | (labels[:, 2:] == labels[:, :-2])
    no_skip = tensor(needs_previous, backend=backend)
    running = tensor(np.arange(times)[:, None, None] < durations.numpy()[:, None], backend=backend)

    start = np.full(labels.shape, IMPOSSIBLE)
    start[:, 0] = 0.0  # before the first time; followed by the first blank or label
    forward = tensor(start, dtype=scores.dtype, backend=backend)
    before = full((batch, 2), IMPOSSIBLE, dtype=scores.dtype, backend=backend)
    for time in range(times):
        padded = cat([before, forward], 1)
        total = forward.logaddexp(padded[:, 1:-1])
        total = total.logaddexp(padded[:, :-2].masked_fill(no_skip, IMPOSSIBLE))
        forward = (total + emitted[time]).where(running[time], forward)

    last = 2 * lengths.unsqueeze(1)
    at_blank = forward.gather(1, last)
    at_label = forward.gather(1, (last - 1).clamp_min(0)).masked_fill(last == 0, IMPOSSIBLE)
    return at_blank.logaddexp(at_label).squeeze(1).neg()
