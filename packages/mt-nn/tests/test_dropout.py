"""Dropout layers: fraction of zeros, scaling, modes, gradients, invalid p."""

import math
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.functional as F
import mt_tensor as mt

LAYERS = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout",
          "FeatureAlphaDropout"]  # fmt: skip


def dropped_ones(name: str, shape: tuple[int, ...], p: float = 0.25) -> Any:
    """Return the output of the layer for ones."""
    mt.manual_seed(1)
    return getattr(nn, name)(p)(mt.ones(*shape)).numpy()


@pytest.mark.parametrize(
    ("name", "shape", "shared_dims"),
    [
        ("Dropout", (4000,), ()),
        ("Dropout1d", (100, 40, 3), (2,)),
        ("Dropout1d", (4000, 3), (1,)),
        ("Dropout2d", (100, 40, 2, 3), (2, 3)),
        ("Dropout2d", (100, 40, 3), (2,)),
        ("Dropout3d", (100, 40, 2, 1, 2), (2, 3, 4)),
        ("Dropout3d", (4000, 2, 1, 2), (1, 2, 3)),
    ],
)
def test_dropout_zeroes_fraction_p_independently_and_scales_the_rest(
    name: str, shape: tuple[int, ...], shared_dims: tuple[int, ...]
) -> None:
    out = dropped_ones(name, shape)
    np.testing.assert_allclose(np.unique(out), [0, 1 / 0.75], rtol=1e-6)
    np.testing.assert_array_equal(out.min(shared_dims), out.max(shared_dims))
    assert (out == 0).mean() == pytest.approx(0.25, abs=0.03)
    np.testing.assert_array_equal(dropped_ones(name, shape), out)
    flat = out.min(shared_dims).reshape(-1)
    assert (flat[1:] != flat[:-1]).mean() == pytest.approx(2 * 0.25 * 0.75, abs=0.04)


@pytest.mark.parametrize("name", ["AlphaDropout", "FeatureAlphaDropout"])
def test_alpha_dropout_preserves_mean_and_variance(name: str) -> None:
    mt.manual_seed(0)
    x = mt.randn(400, 100, 2)
    out = getattr(nn, name)(0.3)(x).numpy()
    assert out.mean() == pytest.approx(0, abs=0.02)
    assert out.std() == pytest.approx(1, abs=0.02)
    scale = 1 / math.sqrt(0.7 * (1 + 0.3 * 1.7580993408473766**2))
    low = -1.7580993408473766 * scale * (1 - 0.3)
    dropped = np.isclose(out, low, atol=1e-6)
    assert dropped.mean() == pytest.approx(0.3, abs=0.02)
    kept = x.numpy() * scale + 0.3 * 1.7580993408473766 * scale
    np.testing.assert_allclose(out[~dropped], kept[~dropped], atol=1e-5)
    if name == "FeatureAlphaDropout":
        np.testing.assert_array_equal(dropped[..., 0], dropped[..., 1])


@pytest.mark.parametrize("name", LAYERS)
def test_dropout_is_identity_in_eval_mode_and_passes_gradcheck_in_training(name: str) -> None:
    shape = {"Dropout2d": (3, 4, 2, 1), "Dropout3d": (3, 4, 2, 1, 2)}.get(name, (3, 4, 2))
    layer = getattr(nn, name)(0.4)
    x = mt.randn(*shape, dtype="float64")
    assert layer.eval()(x) is x
    layer.train()

    def call_with_seed(x: mt.Tensor) -> Any:
        mt.manual_seed(0)
        return layer(x)

    assert mt.gradcheck(call_with_seed, [x.clone().requires_grad_()])
    assert mt.gradgradcheck(call_with_seed, [x.clone().requires_grad_()])
    expected, in_place = call_with_seed(x), x.clone()
    mt.manual_seed(0)
    assert getattr(nn, name)(0.4, inplace=True)(in_place) is in_place
    np.testing.assert_allclose(in_place, expected, rtol=1e-6)
    assert layer(x.half()).dtype is mt.float16


def test_dropout_is_the_identity_for_p_0_or_in_evaluation_and_zero_for_p_1() -> None:
    x = mt.ones(4)
    assert F.dropout(x, 0.0) is x
    assert F.dropout(x, 0.25, training=False) is x
    assert not F.dropout(x, 1.0).any()


def test_dropout_probability_must_be_a_number_between_0_and_1() -> None:
    assert F.dropout(mt.ones(2), np.float32(0.0)).tolist() == [1, 1]  # type: ignore[arg-type]
    for p in ("0.5", None, [0.5], 2, math.nan):
        with pytest.raises(nn.SettingError, match="(a number as p|between 0 and 1); got"):
            F.dropout(mt.ones(2), p)  # type: ignore[arg-type]
