"""`repr`, `str` and `format` of tensors, and print options, compared with torch."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import mt_tensor as mt

DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")


@pytest.fixture(autouse=True)
def _reset_options() -> Iterator[None]:
    yield
    mt.set_printoptions(profile="default")


def both_reprs(array: Any) -> tuple[str, str]:
    """Return the `repr` of equal tensors in mt_tensor and in torch.

    Line breaks before the dtype are removed, since "mt_tensor." is longer than "torch." and may
    need one where torch does not.
    """
    torch = pytest.importorskip("torch")
    ours = repr(mt.tensor(array)).replace("mt_tensor.", "torch.")
    theirs = repr(torch.tensor(array))
    return re.sub(r",\n +dtype", ", dtype", ours), re.sub(r",\n +dtype", ", dtype", theirs)


def test_repr_shows_values_dtype_and_grad() -> None:
    assert repr(mt.tensor([1, 2])) == str(mt.tensor([1, 2])) == "tensor([1, 2])"
    assert repr(mt.tensor(1.5, requires_grad=True)) == "tensor(1.5000, requires_grad=True)"
    assert repr(mt.zeros(1, dtype="float64")) == "tensor([0.], dtype=mt_tensor.float64)"
    assert repr(mt.tensor([])) == "tensor([])"
    assert repr(mt.zeros(2, 0, dtype="int64")) == "tensor([], size=(2, 0), dtype=mt_tensor.int64)"
    assert repr(mt.tensor([True, False])) == "tensor([ True, False])"
    x = mt.ones(2, 2, requires_grad=True)
    assert repr(x + 1) == "tensor([[2., 2.],\n        [2., 2.]], grad_fn=<add>)"
    assert repr(mt.arange(2000)) == "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"


def test_repr_does_not_depend_on_layout_or_backend() -> None:
    x = mt.arange(12, dtype="float32").view(3, 4)
    assert repr(x.T) == repr(x.T.contiguous())
    assert repr(x.flip(0)[:, ::2]) == repr(mt.tensor(x.flip(0)[:, ::2].tolist()))
    assert repr(x.to("simple")) == repr(x)


def test_format_applies_spec_to_0d_tensors_only() -> None:
    assert f"{mt.tensor(1.25):.1f}" == "1.2"
    assert f"{mt.tensor(3)}" == "3"
    assert f"{mt.tensor([3])}" == "tensor([3])"
    with pytest.raises(TypeError, match="unsupported format"):
        f"{mt.tensor([3]):.2f}"


@settings(deadline=None)
@given(st.data())
def test_repr_of_random_arrays_matches_torch(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    shape = data.draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9))
    ours, theirs = both_reprs(data.draw(arrays.arrays(np.dtype(dtype), shape)))
    assert ours == theirs


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0],
        [np.nan, np.inf, -np.inf],
        [np.nan, 1.0, -2.0],
        [1.5, np.inf, -np.inf, np.nan, 0.0],
        [1e-5, 1.0],
        [0.001, 1.0],
        [0.00099, 1.0],
        [5e-8],
        [60000.0, 1.0],
        [1.0, 1000.0],
        [1.0, 1001.0],
        [0.1] * 30,
        [[1.25, -30.5], [np.nan, 2.0]],
    ],
)
def test_repr_of_floats_matches_torch(values: Any, dtype: str) -> None:
    ours, theirs = both_reprs(np.array(values, dtype))
    assert ours == theirs


@pytest.mark.parametrize("value", [1e8, 1.1e8, 123456.789, 2**53, 1e300, 1e-300, 0.5])
def test_repr_of_large_and_small_numbers_matches_torch(value: float) -> None:
    for values in (value, [value, -value], [[value, 0.0], [1.0, 2.0]]):
        ours, theirs = both_reprs(np.array(values))
        assert ours == theirs


@pytest.mark.parametrize(
    "shape", [(1000,), (1001,), (7, 200), (200, 7), (6, 6, 40), (2, 1100), (1100, 2), (11, 10, 10)]
)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_summary_of_large_tensors_matches_torch(shape: tuple[int, ...], dtype: str) -> None:
    values = np.random.default_rng(0).normal(size=shape) * 40
    ours, theirs = both_reprs(values.astype(dtype))
    assert ours == theirs


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 0},
        {"precision": 2},
        {"precision": 10},
        {"threshold": 5},
        {"threshold": 5, "edgeitems": 1},
        {"threshold": 5, "edgeitems": 0},
        {"edgeitems": 0},
        {"linewidth": 20},
        {"linewidth": 1},
        {"sci_mode": True},
        {"sci_mode": False},
        {"profile": "short"},
        {"profile": "full"},
        {"profile": "short", "precision": 3},
    ],
)
def test_print_options_match_torch(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(1).normal(size=(9, 8)) * 20
    torch.set_printoptions(**options)
    try:
        with mt.printoptions(**options):
            for array in (values, values[0], values[0, 0], values.astype(int), values * 1e6):
                ours, theirs = both_reprs(array)
                assert ours == theirs
    finally:
        torch.set_printoptions(profile="default")
    assert mt.get_printoptions() == {
        "precision": 4,
        "threshold": 1000,
        "edgeitems": 3,
        "linewidth": 80,
        "sci_mode": None,
    }


@pytest.mark.parametrize("width", [20, 30, 40, 50])
def test_suffix_wraps_at_line_width_as_in_torch(width: int) -> None:
    torch = pytest.importorskip("torch")
    torch.set_printoptions(linewidth=width)
    try:
        with mt.printoptions(linewidth=width):
            ours = repr(mt.ones(3, dtype="int32")), repr(mt.ones(3, requires_grad=True))
        theirs = repr(torch.ones(3, dtype=torch.int32)), repr(torch.ones(3, requires_grad=True))
        # "mt_tensor." is longer than "torch.", so that one line break may differ
        assert ours[1] == theirs[1]
        assert ours[0].replace("mt_tensor.", "torch.").split() == theirs[0].split()
    finally:
        torch.set_printoptions(profile="default")


@pytest.mark.parametrize(
    "options",
    [
        {"precision": -1},
        {"precision": 1.5},
        {"threshold": float("nan")},
        {"linewidth": "wide"},
        {"profile": "long"},
        {"sci_mode": "always"},
    ],
)
def test_set_printoptions_rejects_invalid_options(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=r"was given\."):
        mt.set_printoptions(**options)
