"""Reductions fused with a formula: same bits as eager, no intermediate results."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_fast.folds import fused as folds
from mt_tensor.conformance.compiling import small_as_large

REDUCTIONS = ("sum", "amax")

FORMULAS = {
    "one argument": lambda x, y: x.tanh(),
    "with a constant": lambda x, y: (x * 2.5).exp(),
    "two arguments": lambda x, y: (x - y).square(),
    "with a condition": lambda x, y: mt.where(x > y, x, 0.5),
}

OTHER_SHAPES = {
    "same shape": lambda shape: shape,
    "scalar": lambda shape: (),
    "row": lambda shape: (1,) * (len(shape) - 1) + shape[-1:],
    "column": lambda shape: (*shape[:-1], 1),
}

FUSED = [
    ((16384,), 0),
    ((40000, 3), 0),
    ((40000, 3), 1),
    ((70, 300), 1),
    ((150, 1000), (0, 1)),
    ((3, 150, 70), (1, 2)),
    ((60, 70, 5), 0),
]
"""Shapes and dimensions whose reductions are fused."""


@pytest.fixture(autouse=True, params=[1, 2], ids=["serial", "parallel"])
def _threads(request, monkeypatch):
    before = numba.get_num_threads()
    if request.param == 2:
        monkeypatch.setattr(mt.get_backend("fast"), "parallel_from", 8192)
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    with mt.use_backend("fast"):
        yield
    numba.set_num_threads(before)


def random(shape, dtype="float32", seed=0):
    return mt.tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def check_same_bits(function, *arguments):
    """Check that a compiled function gives the bits of eager calls; return its program's calls."""
    compiled = mt.compile(function)
    with mt.no_grad():
        expected = function(*arguments).numpy()
        compiled(*arguments)
        actual = compiled(*arguments).numpy()
    assert expected.dtype == actual.dtype
    assert expected.shape == actual.shape
    assert expected.tobytes() == actual.tobytes()
    return [call.name for call in compiled.program.instructions]


@pytest.mark.parametrize(("shape", "dim"), FUSED)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_large_reduction_is_fused_with_its_formula(shape, dim, reduction):
    def function(x, y):
        return getattr((x - y).tanh(), reduction)(dim)

    calls = check_same_bits(function, random(shape), random(shape[-1:], seed=1))
    assert len(calls) == 1
    assert calls[0].endswith("_of_sub_tanh")


@pytest.mark.parametrize("shape", [(30, 1, 20), (7, 1, 1, 50), (1, 70, 1, 9)])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_fused_reduction_around_dimensions_of_size_1_gives_same_bits(reduction, shape):
    def function(x, y):
        return getattr((x - y).exp(), reduction)((0, len(shape) - 1))

    with small_as_large():
        check_same_bits(function, random(shape), random(shape, seed=1))


@settings(deadline=None, max_examples=25)
@given(data=st.data(), dtype=st.sampled_from(["float32", "float64"]))
def test_fused_reduction_gives_same_bits_as_eager(data, dtype):
    sizes = st.lists(st.sampled_from([1, 2, 5, 30, 130]), min_size=1, max_size=4)
    shape = tuple(data.draw(sizes))
    dims = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    formula, other = (data.draw(st.sampled_from([*of])) for of in (FORMULAS, OTHER_SHAPES))
    reduction, keepdim = data.draw(st.sampled_from(REDUCTIONS)), data.draw(st.booleans())

    def function(x, y):
        return getattr(FORMULAS[formula](x, y), reduction)(dims, keepdim)

    with small_as_large(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(folds, "CHUNK", data.draw(st.sampled_from([1, 7, 64, folds.CHUNK])))
        check_same_bits(
            function, random(shape, dtype), random(OTHER_SHAPES[other](shape), dtype, 1)
        )


def test_reduction_of_small_shared_or_copied_elements_is_not_fused():
    x = random((200, 200))
    assert len(check_same_bits(lambda x: x.tanh().sum(), x)) == 1
    assert len(check_same_bits(lambda x: x.tanh().sum(), x[:100, :100].clone())) == 2
    assert len(check_same_bits(lambda x: (y := x.tanh()).sum() + y.amax(), x)) == 4
    assert len(check_same_bits(lambda x: x.tanh().T.contiguous().sum(0), x)) == 3


def test_nan_and_infinity_give_same_bits_as_eager():
    x = random((300, 200))
    x[7, 3], x[9, 2] = float("nan"), float("inf")
    for reduction in REDUCTIONS:
        check_same_bits(lambda x, r=reduction: getattr(x.square(), r)(1), x)


def test_comparison_detects_wrong_start(monkeypatch):
    original = folds._filled_step

    def shifted(step, filling):
        fused = original(step, filling)
        return folds._Step(fused.step, fused.filling, fused.size, fused.start + 1, fused.extra)

    monkeypatch.setattr(folds, "_filled_step", shifted)
    with pytest.raises(AssertionError):
        check_same_bits(lambda x: x.tanh().sum(1), random((16, 2000))[:, :1500].clone())
