"""Connectionist temporal classification: the loss of label sequences without alignment.

The composition takes some ten passes over all samples at each time, and as many back. Here a
sample is done in one go: forward through time, where each state adds up the ways that lead to it,
and back, where the ways that lead on from it are added up (Graves et al. 2006, "Connectionist
Temporal Classification", equations 6, 7, 10 and 11, on logarithms). How likely it is to be in a
state at a time, if the sequence is right, is how fast the loss falls when its label gets likelier.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.lowering import maximum
from mt_fast.core.reductions import REASSOCIATE
from mt_fast.core.tables import jit
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.vector_math.operators import decay, log
from mt_fast.vectors.compiler import inner
from mt_fast.vectors.processor import VECTOR_BYTES
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

IMPOSSIBLE = -1e37
"""The logarithm of a probability of 0: so far away that no scores add up to it, but finite, so that
differences of such numbers are, too."""

_summing = jit(fastmath=set(REASSOCIATE))
"""Compiles a function that adds up a row in any order, as vectors do."""

BESIDE = 2
"""From how far away a way can lead to a state: so many impossible ones lie beside the others."""

COST = 16
"""As how many elements a state counts at a time: for its exponentials and its logarithm."""

LANES = VECTOR_BYTES // 4
"""Elements of the longest vector."""

# --- Kernels: units are the samples of a batch --------------------------------------------------


def _ctc(
    lo: Any, hi: Any, scores: Any, labels: Any, durations: Any, lengths: Any, blank: Any,
    leaps: Any, likely: Any, forward: Any, losses: Any,
) -> None:  # fmt: skip
    """Go forward through time.

    Args:
        lo: the first sample.
        hi: the sample after the last.
        scores: log-probabilities of labels, shape (time, batch, labels).
        labels: those of states, shape (batch, states).
        durations: how many times each sample has.
        lengths: how many labels each sample has, without blanks.
        blank: which label is the blank.
        leaps: memory for the logarithm of whether the state before each can be left out, shape
            (batch, states + BESIDE).
        likely: memory for how likely the label of each state is at a time, shape (batch, states).
        forward: how likely it is to have come to each state by a time, after BESIDE impossible
            ones, shape (batch, rows, BESIDE + states); times take turns if there are fewer rows.
        losses: minus the logarithm of how likely the sequences are.
    """
    rows, zero = forward.shape[1], forward.dtype.type(0)
    impossible = forward.dtype.type(IMPOSSIBLE)
    for i in range(lo, hi):
        _mark_leaps(leaps[i], labels[i], blank)
        for row in range(rows):
            forward[i, row, :BESIDE] = impossible
        forward[i, 0, BESIDE:] = impossible
        forward[i, 0, BESIDE] = zero  # before the first time: leads to the first blank or label
        for time in range(durations[i]):
            _read(likely[i], scores[time, i], labels[i])
            before, now = forward[i, time % rows], forward[i, (time + 1) % rows]
            _go_on(now, before, leaps[i], likely[i])
        last, end = forward[i, durations[i] % rows], BESIDE + 2 * lengths[i]
        losses[i] = -_added(last[end], last[end - 1], impossible)


def _ctc_gradient(
    lo: Any, hi: Any, scores: Any, labels: Any, durations: Any, lengths: Any, leaps: Any,
    likely: Any, forward: Any, backward: Any, ahead: Any, weights: Any, out: Any,
) -> None:  # fmt: skip
    """Go back through time, and write the gradient of the scores.

    Args:
        lo: the first sample.
        hi: the sample after the last.
        scores: log-probabilities of labels.
        labels: those of states.
        durations: how many times each sample has.
        lengths: how many labels each sample has.
        leaps: as written forward.
        likely: memory.
        forward: as written forward, with a row for each time and one before the first.
        backward: memory for how likely it is to come to the end from each state after a time,
            before BESIDE impossible ones, shape (batch, states + BESIDE).
        ahead: memory of the same shape.
        weights: the gradient of each loss.
        out: that of the scores.
    """
    zero, impossible = out.dtype.type(0), out.dtype.type(IMPOSSIBLE)
    for i in range(lo, hi):
        states, weight, ways, beyond = labels[i], weights[i], backward[i], ahead[i]
        ways[:], beyond[:] = impossible, impossible
        ways[max(2 * lengths[i] - 1, 0)] = zero
        ways[2 * lengths[i]] = zero
        for time in range(len(out)):
            out[time, i, :] = zero
        for time in range(durations[i] - 1, -1, -1):
            _take_shares(beyond, forward[i, time + 1], ways, weight)
            for s in range(states.size):
                out[time, i, states[s]] -= beyond[s]
            _read(likely[i], scores[time, i], states)
            for s in range(states.size):
                beyond[s] = ways[s] + likely[i, s]
            _go_back(ways, beyond, leaps[i])


@inner
def _mark_leaps(leaps: Any, labels: Any, blank: Any) -> None:
    """Write 0 where the state before can be left out: a blank between two different labels."""
    leaps[:] = leaps.dtype.type(IMPOSSIBLE)
    for s in range(2, labels.size):
        if labels[s] != blank and labels[s] != labels[s - 2]:
            leaps[s] = leaps.dtype.type(0)


@inner
def _read(likely: Any, scores: Any, labels: Any) -> None:
    """Write how likely the label of each state is."""
    impossible = likely.dtype.type(IMPOSSIBLE)
    for s in range(labels.size):
        likely[s] = maximum(scores[labels[s]], impossible)


@inner
def _go_on(now: Any, before: Any, leaps: Any, likely: Any) -> None:
    """Write how likely it is to have come to each state, from a time to the next."""
    for s in range(likely.size):
        ways = _added(before[s + 2], before[s + 1], before[s] + leaps[s])
        now[s + BESIDE] = ways + likely[s]


@_summing
def _take_shares(shares: Any, come: Any, ways: Any, weight: Any) -> None:
    """Write how likely each state is at a time, times a weight.

    Divided by their sum, and not by how likely the sequence is, which is the same but for the
    rounding of all times together.
    """
    count = ways.size - BESIDE
    largest, total = come[BESIDE] + ways[0], ways.dtype.type(0)
    for s in range(count):
        shares[s] = come[s + BESIDE] + ways[s]
        largest = maximum(largest, shares[s])
    for s in range(count):
        shares[s] = decay(shares[s] - largest)
        total += shares[s]
    factor = weight / total
    for s in range(count):
        shares[s] *= factor


@inner
def _go_back(ways: Any, ahead: Any, leaps: Any) -> None:
    """Write how likely it is to come to the end from each state, from a time to the one before."""
    for s in range(ways.size - BESIDE):
        ways[s] = _added(ahead[s], ahead[s + 1], ahead[s + 2] + leaps[s + 2])


@jit()
def _added(a: Any, b: Any, c: Any) -> Any:
    """Return the logarithm of the sum of three numbers from their logarithms."""
    largest = maximum(maximum(a, b), c)
    return largest + log(decay(a - largest) + decay(b - largest) + decay(c - largest))


_FORWARD, _BACKWARD = Kernel.of(_ctc), Kernel.of(_ctc_gradient)

# --- The operation on tensors -------------------------------------------------------------------


class _CTC(FusedKernel):
    """Log-probabilities, the labels of states, durations, lengths, and which label is the blank."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, other types and labels that there are not to the composition."""
        scores, labels = arguments[:2]
        if not is_compiled(scores) or not labels.numel():
            return False
        numbers = array_of(labels)
        return bool(numbers.min() >= 0 and numbers.max() < scores.shape[2])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the loss of each sample; saved is what the way forward leaves behind."""
        scores, _, durations, lengths = map(array_of, arguments[:4])
        labels = _padded(*arguments[1::3])
        (times, batch, _), states, dtype = scores.shape, labels.shape[1], scores.dtype
        rows = times + 1 if needs[0] else 2
        leaps, likely = np.empty((batch, states + BESIDE), dtype), np.empty(labels.shape, dtype)
        forward, losses = np.empty((batch, rows, BESIDE + states), dtype), np.empty(batch, dtype)
        inputs = (scores, labels, durations, lengths, arguments[4])
        parallel = shared(COST * times * labels.size, arguments[0])
        _FORWARD.run(batch, parallel, *inputs, leaps, likely, forward, losses)
        return tensor_of(losses, arguments[0]), (labels, leaps, likely, forward)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the log-probabilities."""
        scores, _, *sizes = map(array_of, arguments[:4])
        labels, *memory = saved
        out, buffers = np.empty_like(scores), np.empty((2, *memory[0].shape), scores.dtype)
        parallel = shared(COST * len(scores) * labels.size, arguments[0])
        inputs = scores, labels, *sizes, *memory, *buffers, array_of(grad)
        _BACKWARD.run(len(labels), parallel, *inputs, out)
        return tensor_of(out, arguments[0]), None, None, None, None


def _padded(labels: Tensor, blank: int) -> Array:
    """Return the labels of states with blanks behind them, which nothing leads away from.

    The rows are so many whole vectors, for what is left over would be done one by one, in as much
    time as all vectors.
    """
    array = array_of(labels)
    batch, states = array.shape
    padded = np.full((batch, states + -states % LANES), blank)
    padded[:, :states] = array
    return padded


CTC = _CTC()
