"""Connectionist temporal classification: the loss of label sequences without alignment.

The composition makes about ten passes over all samples for each time step, forward and backward.
Here each sample is processed in one go: the forward recursion sums the paths that lead to each
state, the backward recursion those that continue from it (Graves et al. 2006, "Connectionist
Temporal Classification", equations 6, 7, 10 and 11, in log space). The gradient with respect to a
log-probability is minus the posterior probability of the states with that label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.lowering import maximum
from mt_fast.core.tables import jit
from mt_fast.fused.rows import summing
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_fast.vector_math.operators import decay, log
from mt_fast.vectors.compiler import inner
from mt_fast.vectors.processor import VECTOR_BYTES
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

IMPOSSIBLE = -1e37
"""The log of a probability of 0: so low that no sum of scores reaches it, but finite, so that
differences of such values are finite, too."""


MARGIN = 2
"""The number of impossible states next to the others: a path skips at most one state."""

COST = 16
"""The cost of a state at one time step, in elements: for its exponentials and its logarithm."""

LANES = VECTOR_BYTES // 4
"""The number of float32 elements of a vector."""

# --- Kernels: units are the samples of a batch --------------------------------------------------


def _ctc(
    lo: Any, hi: Any, scores: Any, labels: Any, durations: Any, lengths: Any, blank: Any,
    skips: Any, emissions: Any, forward: Any, losses: Any,
) -> None:  # fmt: skip
    """Run the forward recursion.

    Args:
        lo: the first sample.
        hi: the sample after the last.
        scores: log-probabilities, shape (time, batch, labels).
        labels: the label of each state, shape (batch, states).
        durations: the number of time steps of each sample.
        lengths: the number of labels of each sample, without blanks.
        blank: the blank label.
        skips: memory for the log of whether the state before each may be skipped, shape (batch,
            states + MARGIN).
        emissions: memory for the log-probability of each state's label at a time, shape (batch,
            states).
        forward: log-probability of the paths that reach each state by a time, after MARGIN
            impossible states, shape (batch, rows, MARGIN + states); with fewer rows than times,
            rows are reused.
        losses: the negative log-likelihood of each sequence.
    """
    rows, zero = forward.shape[1], forward.dtype.type(0)
    impossible = forward.dtype.type(IMPOSSIBLE)
    for i in range(lo, hi):
        _mark_skips(skips[i], labels[i], blank)
        for row in range(rows):
            forward[i, row, :MARGIN] = impossible
        forward[i, 0, MARGIN:] = impossible
        forward[i, 0, MARGIN] = zero  # before the first time: leads to the first blank or label
        for time in range(durations[i]):
            _read(emissions[i], scores[time, i], labels[i])
            previous, current = forward[i, time % rows], forward[i, (time + 1) % rows]
            _advance(current, previous, skips[i], emissions[i])
        last, end = forward[i, durations[i] % rows], MARGIN + 2 * lengths[i]
        losses[i] = -_log_sum(last[end], last[end - 1], impossible)


def _ctc_gradient(
    lo: Any, hi: Any, scores: Any, labels: Any, durations: Any, lengths: Any, skips: Any,
    emissions: Any, forward: Any, backward: Any, scratch: Any, weights: Any, out: Any,
) -> None:  # fmt: skip
    """Run the backward recursion, and write the gradient of the scores.

    Args:
        lo: the first sample.
        hi: the sample after the last.
        scores: log-probabilities, shape (time, batch, labels).
        labels: the label of each state.
        durations: the number of time steps of each sample.
        lengths: the number of labels of each sample.
        skips: as written by `_ctc`.
        emissions: memory, see `_ctc`.
        forward: as written by `_ctc`, with a row for each time and one before the first.
        backward: memory for the log-probability of the paths from each state after a time to the
            end, before MARGIN impossible states, shape (batch, states + MARGIN).
        scratch: memory of the same shape.
        weights: the gradient of each loss.
        out: the gradient of the scores.
    """
    zero, impossible = out.dtype.type(0), out.dtype.type(IMPOSSIBLE)
    for i in range(lo, hi):
        states, weight, paths, scratch_row = labels[i], weights[i], backward[i], scratch[i]
        paths[:], scratch_row[:] = impossible, impossible
        paths[max(2 * lengths[i] - 1, 0)] = zero
        paths[2 * lengths[i]] = zero
        for time in range(len(out)):
            out[time, i, :] = zero
        for time in range(durations[i] - 1, -1, -1):
            _posteriors(scratch_row, forward[i, time + 1], paths, weight)
            for s in range(states.size):
                out[time, i, states[s]] -= scratch_row[s]
            _read(emissions[i], scores[time, i], states)
            for s in range(states.size):
                scratch_row[s] = paths[s] + emissions[i, s]
            _retreat(paths, scratch_row, skips[i])


@inner
def _mark_skips(skips: Any, labels: Any, blank: Any) -> None:
    """Write 0 where the state before may be skipped: a blank between two different labels."""
    skips[:] = skips.dtype.type(IMPOSSIBLE)
    for s in range(2, labels.size):
        if labels[s] != blank and labels[s] != labels[s - 2]:
            skips[s] = skips.dtype.type(0)


@inner
def _read(emissions: Any, scores: Any, labels: Any) -> None:
    """Write the log-probability of the label of each state."""
    impossible = emissions.dtype.type(IMPOSSIBLE)
    for s in range(labels.size):
        emissions[s] = maximum(scores[labels[s]], impossible)


@inner
def _advance(current: Any, previous: Any, skips: Any, emissions: Any) -> None:
    """Compute the forward recursion from one time to the next."""
    for s in range(emissions.size):
        paths = _log_sum(previous[s + 2], previous[s + 1], previous[s] + skips[s])
        current[s + MARGIN] = paths + emissions[s]


@summing
def _posteriors(posteriors: Any, forward: Any, paths: Any, weight: Any) -> None:
    """Write the posterior probability of each state at a time, times a weight.

    The sum of the states is the divisor. In exact arithmetic it equals the likelihood of the
    sequence, but it does not carry the rounding errors of all time steps.
    """
    count = paths.size - MARGIN
    largest, total = forward[MARGIN] + paths[0], paths.dtype.type(0)
    for s in range(count):
        posteriors[s] = forward[s + MARGIN] + paths[s]
        largest = maximum(largest, posteriors[s])
    for s in range(count):
        posteriors[s] = decay(posteriors[s] - largest)
        total += posteriors[s]
    factor = weight / total
    for s in range(count):
        posteriors[s] *= factor


@inner
def _retreat(paths: Any, next_paths: Any, skips: Any) -> None:
    """Compute the backward recursion from one time to the one before."""
    for s in range(paths.size - MARGIN):
        paths[s] = _log_sum(next_paths[s], next_paths[s + 1], next_paths[s + 2] + skips[s + 2])


@jit()
def _log_sum(a: Any, b: Any, c: Any) -> Any:
    """Return `log(exp(a) + exp(b) + exp(c))`."""
    largest = maximum(maximum(a, b), c)
    return largest + log(decay(a - largest) + decay(b - largest) + decay(c - largest))


_FORWARD, _BACKWARD = Kernel.of(_ctc), Kernel.of(_ctc_gradient)

# --- The operation on tensors -------------------------------------------------------------------


class _CTC(FusedKernel):
    """CTC on log-probabilities, state labels, durations, lengths and the blank label."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether the scores are float32 or float64, and all labels are classes."""
        scores, labels = arguments[:2]
        if not is_compiled(scores) or not labels.numel():
            return False
        numbers = array_of(labels)
        return bool(numbers.min() >= 0 and numbers.max() < scores.shape[2])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the loss of each sample, and save the arrays of the forward recursion."""
        scores, _, durations, lengths = map(array_of, arguments[:4])
        labels = _padded(*arguments[1::3])
        (times, batch, _), states, dtype = scores.shape, labels.shape[1], scores.dtype
        rows = times + 1 if needs[0] else 2
        skips, emissions = np.empty((batch, states + MARGIN), dtype), np.empty(labels.shape, dtype)
        forward, losses = np.empty((batch, rows, MARGIN + states), dtype), np.empty(batch, dtype)
        inputs = (scores, labels, durations, lengths, arguments[4])
        parallel = shared(COST * times * labels.size, arguments[0])
        _FORWARD.run(batch, parallel, *inputs, skips, emissions, forward, losses)
        return tensor_of(losses, arguments[0]), (labels, skips, emissions, forward)

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
    """Return the labels of states, padded with blanks that no path leaves.

    Rows are whole vectors, since the remainder of a row would be processed element by element, in
    as much time as all vectors.
    """
    array = array_of(labels)
    batch, states = array.shape
    padded = np.full((batch, states + -states % LANES), blank)
    padded[:, :states] = array
    return padded


CTC = _CTC()
