"""The loss of label sequences whose places in time are not known."""

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
"""The logarithm of a probability of 0: so far away that no scores add up to it, but finite, so that
differences of such numbers are, too."""

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
    """Return how unlikely label sequences are, over all ways in which they can be spread over time.

    A way gives each time a label or a blank; repeated labels count once, and then blanks are
    dropped. The sum over all ways is taken by the forward recursion of Graves et al. 2006,
    "Connectionist Temporal Classification", equations 6 and 7, on logarithms.

    Args:
        log_probs: log-probabilities of labels, shape (time, batch, labels), or (time, labels).
        targets: sequences of labels, without blanks, integers of shape (batch, longest); or all
            sequences one after the other.
        input_lengths: how many times there are for each sample.
        target_lengths: how long each sequence is.
        blank: which label is the blank.
        reduction: none, sum, or the mean of what the losses of samples are for each label.
        zero_infinity: whether sequences that are longer than their time permits lose 0, with a
            gradient of 0, instead of infinity, with a gradient of nan.

    Raises:
        InputError: shapes, dtypes or lengths do not fit.
        IndexingError: a label does not exist.
        SettingError: there is no such reduction or blank.
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
    losses = _spread(
        scores,
        tensor(states, backend=scores.backend),
        tensor(durations, backend=scores.backend),
        tensor(lengths, backend=scores.backend),
        blank,
    )
    infinite = losses.detach() > -0.5 * IMPOSSIBLE
    if zero_infinity:
        losses = losses.masked_fill(infinite, 0.0)
    elif infinite.any():
        running = tensor(np.arange(times)[:, None] < durations, backend=scores.backend)
        losses = Hopeless.apply(losses, scores, infinite, running)
    if reduction == "mean":
        losses = losses / tensor(np.maximum(lengths, 1), dtype=losses.dtype, backend=losses.backend)
    losses = losses.to(log_probs.dtype)
    return reduce(losses if batched else losses.reshape(()), reduction)


class Hopeless(Function):
    """Losses that are infinite: nothing leads away from there, and the gradient says so by nan."""

    @staticmethod
    def forward(ctx: Any, losses: Tensor, scores: Tensor, infinite: Tensor, running: Tensor) -> Any:
        """Return the losses, with infinity where `infinite` is."""
        ctx.shape = scores.shape
        ctx.save_for_backward(infinite, running)
        return losses.masked_fill(infinite, float("inf"))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return nan for the scores of what is infinite, at the times that it is running."""
        infinite, running = ctx.saved_tensors
        spoilt = (infinite & running).unsqueeze(2).expand(ctx.shape)
        by_scores = zeros(ctx.shape, dtype=grad.dtype, backend=grad.backend)
        return (
            grad.masked_fill(infinite, 0),
            by_scores.masked_fill(spoilt, float("nan")),
            None,
            None,
        )


def _lengths(name: str, given: Lengths, batch: int, most: int | None) -> Array:
    """Return lengths, one for each sample."""
    values = given.detach().numpy() if isinstance(given, Tensor) else np.asarray(given)
    values = values.reshape(-1) if values.ndim == 0 else values
    if values.shape != (batch,) or values.dtype.kind not in "iu":
        raise InputError(
            f"{name} are {batch} integers, one for each sample; shape {values.shape} of "
            f"{values.dtype} was given."
        )
    if batch and (values.min() < 0 or (most is not None and values.max() > most)):
        upper = "" if most is None else f" to {most}"
        raise InputError(f"{name} are from 0{upper}; {values.tolist()} were given.")
    return values.astype(np.int64)


def _states(targets: Tensor, lengths: Array, blank: int, batched: bool) -> Array:
    """Return the labels of each sample with blanks before, between and after: (batch, states)."""
    batch, longest = len(lengths), int(lengths.max(initial=0))
    given = targets.detach().numpy()
    misfit = InputError(
        f"targets are of shape ({batch}, {longest} or more), or one after the other; "
        f"{targets.shape} was given."
    )
    if longest > given.size:  # for which there may be no memory
        raise misfit
    inside = np.arange(longest) < lengths[:, None]
    rows = np.full((batch, longest), blank)
    if given.ndim == 1 and (batched or len(given) == lengths.sum()):
        if len(given) != lengths.sum():
            raise InputError(
                f"target_lengths add up to {lengths.sum()}, but there are {len(given)} targets."
            )
        rows[inside] = given
    else:
        given = given.reshape(1, -1) if given.ndim == 1 else given
        if given.ndim != 2 or len(given) != batch or given.shape[1] < longest:
            raise misfit
        rows[inside] = given[:, :longest][inside]
    states = np.full((batch, 2 * longest + 1), blank)
    states[:, 1::2] = rows
    return states


@fused("ctc")
def _spread(
    scores: Tensor, states: Tensor, durations: Tensor, lengths: Tensor, blank: int
) -> Tensor:
    """Return minus the log-probability of each sample's sequence, over all ways to spread it.

    Args:
        scores: log-probabilities of labels, shape (time, batch, labels).
        states: the labels of each sample with blanks before, between and after, int64 of shape
            (batch, states).
        durations: how many times each sample has, int64 of shape (batch,).
        lengths: how many labels each sample has, without blanks, int64 of shape (batch,).
        blank: which label is the blank.
    """
    backend = scores.backend
    times, batch, _ = scores.shape
    count = states.shape[1]
    emitted = scores.clamp_min(IMPOSSIBLE).gather(2, states.expand(times, batch, count))
    labels = states.numpy()
    through_blank = np.ones(labels.shape, bool)  # whether the state before cannot be left out
    through_blank[:, 2:] = (labels[:, 2:] == blank) | (labels[:, 2:] == labels[:, :-2])
    no_leap = tensor(through_blank, backend=backend)
    running = tensor(np.arange(times)[:, None, None] < durations.numpy()[:, None], backend=backend)

    start = np.full(labels.shape, IMPOSSIBLE)
    start[:, 0] = 0.0  # before the first time, so that it leads to the first blank or label
    forward = tensor(start, dtype=scores.dtype, backend=backend)
    before = full((batch, 2), IMPOSSIBLE, dtype=scores.dtype, backend=backend)
    for time in range(times):
        padded = cat([before, forward], 1)
        ways = forward.logaddexp(padded[:, 1:-1])
        ways = ways.logaddexp(padded[:, :-2].masked_fill(no_leap, IMPOSSIBLE))
        forward = (ways + emitted[time]).where(running[time], forward)

    last = 2 * lengths.unsqueeze(1)
    at_blank = forward.gather(1, last)
    at_label = forward.gather(1, (last - 1).clamp_min(0)).masked_fill(last == 0, IMPOSSIBLE)
    return at_blank.logaddexp(at_label).squeeze(1).neg()
