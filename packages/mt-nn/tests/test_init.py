"""Initializers: moments and quantiles, orthogonality, seeds, constants, errors."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import init
from mt_nn.init import GAINS

SHAPE = (60, 20, 3, 3)
FAN_IN, FAN_OUT = 180, 540

RANDOM: list[tuple[str, dict[str, Any], float, float]] = [
    ("uniform_", {"a": -1.0, "b": 3.0}, 1.0, 4 / math.sqrt(12)),
    ("normal_", {"mean": 1.0, "std": 2.0}, 1.0, 2.0),
    ("xavier_uniform_", {"gain": 3.0}, 0.0, 3 * math.sqrt(2 / (FAN_IN + FAN_OUT))),
    ("xavier_normal_", {}, 0.0, math.sqrt(2 / (FAN_IN + FAN_OUT))),
    ("kaiming_uniform_", {}, 0.0, math.sqrt(2 / FAN_IN)),
    ("kaiming_uniform_", {"a": 2.0, "mode": "fan_out"}, 0.0, math.sqrt(2 / 5 / FAN_OUT)),
    ("kaiming_normal_", {"nonlinearity": "relu"}, 0.0, math.sqrt(2 / FAN_IN)),
    ("kaiming_normal_", {"nonlinearity": "tanh"}, 0.0, 5 / 3 / math.sqrt(FAN_IN)),
    ("trunc_normal_", {}, 0.0, 0.8796),
    ("trunc_normal_", {"mean": 1.0, "std": 0.5, "a": 0.9, "b": 4.0}, 1.328, 0.3186),
]


@pytest.mark.parametrize(("name", "settings", "mean", "std"), RANDOM)
def test_random_initializer_has_expected_moments_and_quantiles_of_torch(
    name: str, settings: dict[str, Any], mean: float, std: float
) -> None:
    mt.manual_seed(0)
    x = mt.zeros(*SHAPE)
    assert getattr(init, name)(x, **settings) is x
    quantiles = np.sort(x.numpy().reshape(-1))
    noise = 5 / math.sqrt(x.numel())
    assert quantiles.mean() == pytest.approx(mean, abs=noise * std)
    assert quantiles.std() == pytest.approx(std, rel=2 * noise)
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    theirs = getattr(torch.nn.init, name)(torch.zeros(*SHAPE), **settings)
    their_quantiles = np.sort(theirs.numpy().reshape(-1))
    np.testing.assert_allclose(quantiles[50:-50:100], their_quantiles[50:-50:100], atol=0.12 * std)


@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in RANDOM))
def test_seed_gives_the_same_values_on_every_backend(name: str) -> None:
    mt.manual_seed(1)
    first = getattr(init, name)(mt.zeros(3, 4))
    mt.manual_seed(1)
    on_simple = getattr(init, name)(mt.zeros(3, 4, backend="simple"))
    np.testing.assert_allclose(first.numpy(), on_simple.numpy(), rtol=1e-6)
    with_generator = getattr(init, name)(mt.zeros(3, 4), generator=mt.Generator().manual_seed(1))
    np.testing.assert_array_equal(first.numpy(), with_generator.numpy())


def test_trunc_normal_in_the_tail_has_expected_bounds_and_mean() -> None:
    values = init.trunc_normal_(mt.zeros(1000), a=5.0, b=6.0).numpy()
    assert values.min() >= 5
    assert values.max() <= 6
    assert values.mean() == pytest.approx(5.187, abs=0.03)  # phi(5) / (1 - Phi(5))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 3, 2), (0, 3)])
def test_orthogonal_gives_orthonormal_rows_or_columns_times_gain(shape: tuple[int, ...]) -> None:
    x = init.orthogonal_(mt.zeros(*shape, dtype="float64"), gain=2.0).numpy()
    matrix = x.reshape(shape[0], math.prod(shape[1:]))
    matrix = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(matrix @ matrix.T, 4 * np.eye(len(matrix)), atol=1e-12)


def test_orthogonal_matrices_are_uniformly_distributed() -> None:
    mt.manual_seed(0)
    corners = [init.orthogonal_(mt.zeros(2, 2))[0, 0].item() for _ in range(2000)]
    assert np.mean(corners) == pytest.approx(0, abs=0.06)
    assert np.std(corners) == pytest.approx(math.sqrt(0.5), abs=0.04)


def test_sparse_zeroes_given_fraction_of_each_column() -> None:
    mt.manual_seed(0)
    x = init.sparse_(mt.zeros(50, 40), sparsity=0.31, std=0.5).numpy()
    assert (x == 0).sum(0).tolist() == [16] * 40
    assert len({tuple(column) for column in (x == 0).T}) == 40
    assert x[x != 0].std() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("name", "shape", "settings"),
    [
        ("eye_", (3, 5), {}),
        ("dirac_", (4, 2, 3), {}),
        ("dirac_", (4, 3, 3, 4), {"groups": 2}),
        ("dirac_", (2, 4, 1, 2, 3), {"groups": 2}),
        ("constant_", (2, 2), {"val": 0.3}),
        ("ones_", (3,), {}),
        ("zeros_", (3,), {}),
    ],
)
def test_constant_initializer_matches_torch(
    name: str, shape: tuple[int, ...], settings: Any
) -> None:
    torch = pytest.importorskip("torch")
    ours = getattr(init, name)(mt.full(shape, 7.0), **settings)
    theirs = getattr(torch.nn.init, name)(torch.full(shape, 7.0), **settings)
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_calculate_gain_matches_torch() -> None:
    torch = pytest.importorskip("torch")
    for name in GAINS.keys() | {"linear", "conv3d", "conv_transpose1d", "sigmoid"}:
        assert init.calculate_gain(name) == torch.nn.init.calculate_gain(name)  # type: ignore[arg-type]
    for slope in (None, 0.3, 2):
        ours = init.calculate_gain("leaky_relu", slope)
        assert ours == torch.nn.init.calculate_gain("leaky_relu", slope)


def test_initializing_a_parameter_records_no_graph() -> None:
    x = nn.Parameter(mt.zeros(4, 4))
    for fill in (init.uniform_, init.orthogonal_, init.eye_, init.ones_, init.trunc_normal_):
        fill(x)
        assert x.is_leaf
        assert x.requires_grad


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (lambda: init.eye_(mt.zeros(2)), "a tensor of 2 dimensions"),
        (lambda: init.dirac_(mt.zeros(2, 2)), "3 to 5 dimensions"),
        (lambda: init.dirac_(mt.zeros(3, 2, 1), groups=2), "a multiple of 2 outputs"),
        (lambda: init.orthogonal_(mt.zeros(2)), "2 or more dimensions"),
        (lambda: init.sparse_(mt.zeros(2, 2), 1.5), "sparsity must be from 0 to 1"),
        (lambda: init.trunc_normal_(mt.zeros(2), a=1.0, b=1.0), "a below b"),
        (lambda: init.trunc_normal_(mt.zeros(2), std=0.0), "a positive std"),
        (lambda: init.xavier_normal_(mt.zeros(2)), "the fan of a tensor of shape \\(2,\\)"),
        (
            lambda: init.kaiming_normal_(mt.zeros(2, 2), mode="fan"),
            "mode must be one of",
        ),  # type: ignore[arg-type]
        (lambda: init.calculate_gain("rleu"), "nonlinearity must be one of linear"),  # type: ignore[arg-type]
        (lambda: init.calculate_gain("leaky_relu", True), "takes a number as param"),
    ],
)
def test_invalid_argument_raises(fill: Callable[[], Any], message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        fill()
