"""Recurrent kernels: threads, unsupported arguments, products with panels."""

import itertools

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_fast.core.kernel import Kernel
from mt_fast.gemm.panels import multiply, panels_of
from mt_fast.recurrent import layers
from mt_fast.recurrent import scan as recurrent
from mt_fast.recurrent.layers import GRU, LSTM, RNN

STEPS, BATCH, WIDTH = 5, 11, 18
SIZE = st.integers(1, 110)


@pytest.fixture(scope="module", autouse=True)
def fast():
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    with mt.use_backend("fast"):
        yield
    numba.set_num_threads(before)


def draw(*shape, dtype="float32"):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def network(name, lengths, backwards):
    """Return a kernel and its arguments."""
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[name]
    x, h, c = draw(STEPS, BATCH, gates * WIDTH), draw(BATCH, WIDTH), draw(BATCH, WIDTH)
    x, h, c, w, b = map(mt.tensor, (x, h, c, 0.3 * draw(gates * WIDTH, WIDTH), draw(gates * WIDTH)))
    order = (None if lengths is None else mt.tensor(lengths), backwards)
    if name == "rnn":
        return RNN, (x, h, w, *order, False)
    return (GRU, (x, h, w, b, *order)) if name == "gru" else (LSTM, (x, h, c, w, None, *order))


def results(kernel, arguments):
    """Return the value, with and without saved values for the gradient, and the gradients."""
    needs = (True,) * len(arguments)
    value, saved = kernel.value(needs, *arguments)
    unsaved, _ = kernel.value((False,) * len(arguments), *arguments)
    gradients = kernel.gradient(mt.tensor(draw(*value.shape)), saved, needs, *arguments)
    return [x.tolist() for x in (value, unsaved, *gradients) if x is not None]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("lengths", [None, np.arange(BATCH) % STEPS + 1])
@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_number_of_threads_does_not_change_bits_of_recurrent_kernels(
    name, lengths, backwards, monkeypatch
):
    kernel, arguments = network(name, lengths, backwards)
    assert kernel.fits(*arguments)
    expected = results(kernel, arguments)
    assert expected[0] == expected[1]
    monkeypatch.setattr(recurrent, "PARALLEL_FROM", 0)
    assert results(kernel, arguments) == expected  # threads share sequences


def test_fits_rejects_unsupported_arguments(monkeypatch):
    _, (x, h, c, w, *order) = network("lstm", None, False)
    assert not LSTM.fits(x, h[:, :2], c, w[:, :2], mt.zeros(2, WIDTH), None, False)
    assert not LSTM.fits(x, h, c, w.double(), *order)
    assert not LSTM.fits(*(y.half() for y in (x, h, c, w)), *order)
    assert not LSTM.fits(x[:, :0], h[:0], c[:0], w, *order)
    monkeypatch.setattr(layers, "PANELS_FROM", w.numel() // STEPS)
    assert not LSTM.fits(x[1:], h, c, w, *order)


def _multiply(lo, hi, out, rows, panels):
    multiply(out, lo, hi, rows, panels)


MULTIPLY = Kernel.of(_multiply)


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 21), SIZE, st.integers(1, 230)),
    transposed=st.booleans(),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_panel_products_match_numpy(sizes, transposed, dtype):
    rows, inner, columns = sizes
    a, b = draw(rows, inner, dtype=dtype), draw(inner, columns, dtype=dtype)
    given_matrix = np.ascontiguousarray(b.T) if transposed else b
    panels = panels_of(given_matrix, transposed, False)
    for parallel, out in itertools.product(
        (False, True), [np.empty((rows, panels.columns), dtype)]
    ):
        MULTIPLY.run(rows, parallel, out, a, panels)
        tolerance = 1e-12 if dtype == "float64" else 1e-4
        exact = a.astype("f8") @ b.astype("f8")
        np.testing.assert_allclose(out[:, :columns], exact, rtol=tolerance, atol=tolerance)
