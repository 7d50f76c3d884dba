"""Data sets: labels, seeds, shapes of the classes, errors."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_operators.datasets import DATASETS, Dataset, moons, spiral

LABEL_RULES: dict[str, Callable[[float, float], bool]] = {
    "simple": lambda x1, x2: x1 < 0.5,
    "diag": lambda x1, x2: x1 + x2 < 0.5,
    "split": lambda x1, x2: x1 < 0.2 or x1 > 0.8,
    "xor": lambda x1, x2: (x1 < 0.5 and x2 > 0.5) or (x1 > 0.5 and x2 < 0.5),
    "circle": lambda x1, x2: math.hypot(x1 - 0.5, x2 - 0.5) > math.sqrt(0.1),
}


@pytest.mark.parametrize("name", DATASETS)
@given(N=st.integers(0, 60), seed=st.integers(0, 2**32))
def test_same_seed_gives_same_points(name: str, N: int, seed: int) -> None:
    dataset = DATASETS[name](N, seed)
    assert dataset.N == len(dataset) == len(dataset.X) == len(dataset.y) == N
    assert dataset == DATASETS[name](N, seed)
    assert set(dataset.y) <= {0, 1}
    assert list(dataset) == list(zip(dataset.X, dataset.y, strict=True))
    if N > 1:
        assert dataset != DATASETS[name](N, seed + 1)


@pytest.mark.parametrize("name", DATASETS)
def test_default_seed_is_zero(name: str) -> None:
    assert DATASETS[name](20) == DATASETS[name](20, seed=0)


@pytest.mark.parametrize("name", LABEL_RULES)
def test_points_fill_unit_square_and_are_labelled_by_rule(name: str) -> None:
    dataset = DATASETS[name](1000)
    assert all(0.0 <= x < 1.0 for point in dataset.X for x in point)
    assert [bool(label) for label in dataset.y] == [
        LABEL_RULES[name](*point) for point in dataset.X
    ]
    assert 50 < sum(dataset.y) < 950
    assert abs(sum(x1 for x1, _ in dataset.X) / 1000 - 0.5) < 0.05


def test_spiral_points_lie_on_two_arms() -> None:
    dataset = spiral(401)
    assert sum(dataset.y) == 200
    for (x1, x2), label in dataset:
        x, y = (0.5 - x1, 0.5 - x2) if label else (x1 - 0.5, x2 - 0.5)
        radius = math.hypot(x, y)
        assert 0.1 <= radius <= 0.5
        turns = (math.atan2(y, x) - 20.0 * radius) / math.tau
        assert turns == pytest.approx(round(turns), abs=1e-6)


def test_moons_lie_on_half_circles_unless_noisy() -> None:
    for (x1, x2), label in moons(400, noise=0.0):
        x, y = (1.0 - x1, 0.5 - x2) if label else (x1, x2)
        assert math.hypot(x, y) == pytest.approx(1.0)
        assert y >= 0.0
    exact, noisy = moons(2000, noise=0.0), moons(2000, noise=0.3)
    assert max(x2 for _, x2 in exact.X) <= 1.0 < max(x2 for _, x2 in noisy.X)


@pytest.mark.parametrize("count", [-1, 2.5, "3"])
def test_dataset_rejects_invalid_number_of_points(count: object) -> None:
    with pytest.raises(ValueError, match="N, the number of points, must be a non-negative integer"):
        DATASETS["xor"](count)


def test_dataset_accepts_object_with_index_method() -> None:
    class Five:
        def __index__(self) -> int:
            return 5

    for name in DATASETS:
        assert DATASETS[name](Five()) == DATASETS[name](5)


def test_dataset_rejects_mismatched_or_invalid_labels() -> None:
    with pytest.raises(ValueError, match=r"1 point\(s\) and 2 class\(es\)"):
        Dataset(((0.0, 0.0),), (0, 1))
    for label in (2, -1, 0.5, "1"):
        with pytest.raises(ValueError, match=f"0 or 1, got {label!r}"):
            Dataset(((0.0, 0.0),), (label,))


@pytest.mark.parametrize("noise", [-0.1, math.nan, math.inf])
def test_moons_rejects_negative_or_non_finite_noise(noise: float) -> None:
    with pytest.raises(ValueError, match=f"noise must be .* got {noise!r}"):
        moons(3, noise=noise)
