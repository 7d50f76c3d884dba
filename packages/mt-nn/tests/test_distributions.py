"""Distributions: probabilities and gradients of torch, and the distribution of samples."""

import math
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_nn import distributions as ours
from mt_nn.errors import InputError, SettingError

P = np.array([[0.2, 0.5, 0.3], [1.0, 3.0, 0.5]])
LOGITS = np.array([[-1.0, 2.0, 0.5], [30.0, -30.0, 0.0]])
HALVES = np.array([0.2, 0.5, 1.0])
MAKERS: dict[str, tuple[Any, list[Any]]] = {
    "bernoulli of probs": (lambda d, p: d.Bernoulli(p), [HALVES]),
    "bernoulli of logits": (lambda d, x: d.Bernoulli(logits=x), [LOGITS[0]]),
    "categorical of probs": (lambda d, p: d.Categorical(p), [P]),
    "categorical of logits": (lambda d, x: d.Categorical(logits=x), [LOGITS]),
    "one categorical": (lambda d, p: d.Categorical(probs=p), [P[0]]),
    "normal": (lambda d, m, s: d.Normal(m, s), [HALVES, np.array([[0.5], [2.0]])]),
    "normal of a number": (lambda d, m: d.Normal(m, 2.0), [HALVES]),
}
VALUES = {
    "b": np.array([1.0, 0.0, 1.0]),
    "c": np.array([1, 2]),
    "o": np.array([[1], [2]]),
    "n": np.array([0.5, -1.0, 3.0]),
}


def both(name: str) -> list[Any]:
    torch = pytest.importorskip("torch")
    theirs = torch.distributions

    make, arrays = MAKERS[name]
    found = []
    for library, names in ((mt, ours), (torch, theirs)):
        inputs = [library.tensor(array, requires_grad=True) for array in arrays]
        found.append((library, inputs, make(names, *inputs)))
    return found


def compare(results: list[tuple[list[Any], Any]]) -> None:
    """Compare values and gradients, and shapes."""
    (mine, found), (others, wanted) = results
    assert found.shape == tuple(wanted.shape)
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), 1e-6, 1e-9)
    assert found.requires_grad == wanted.requires_grad
    if not found.requires_grad:
        return
    found.sum().backward()
    wanted.sum().backward()
    for a, b in zip(mine, others, strict=True):
        if b.grad is not None:
            np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), 1e-6, 1e-9)


@pytest.mark.parametrize("name", MAKERS)
def test_probabilities_agree_with_torch(name: str) -> None:
    value = VALUES[name[0]]
    compare([(inputs, d.log_prob(library.tensor(value))) for library, inputs, d in both(name)])


@pytest.mark.parametrize("name", MAKERS)
def test_entropies_agree_with_torch(name: str) -> None:
    compare([(inputs, d.entropy()) for _, inputs, d in both(name)])


@pytest.mark.parametrize("name", [name for name in MAKERS if not name.endswith("categorical")])
def test_moments_agree_with_torch(name: str) -> None:
    if name.startswith("categorical"):
        (_, _, mine), (_, _, wanted) = both(name)
        assert mine.mode.tolist() == wanted.mode.tolist()
        return
    compare([(inputs, d.mean + d.variance) for _, inputs, d in both(name)])


PAIRS = [
    ("bernoulli of probs", "bernoulli of logits"),
    ("categorical of probs", "categorical of logits"),
    ("normal", "normal of a number"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_divergences_agree_with_torch(one: str, other: str) -> None:
    theirs = pytest.importorskip("torch.distributions")

    results = []
    for first, second, names in zip(both(one), both(other), (ours, theirs), strict=True):
        results.append((first[1] + second[1], names.kl_divergence(first[2], second[2])))
    compare(results)


def test_divergence_from_impossible_events_is_infinite() -> None:
    certain, even = ours.Bernoulli(mt.tensor(1.0)), ours.Bernoulli(mt.tensor(0.5))
    assert ours.kl_divergence(even, certain).item() == math.inf
    assert ours.kl_divergence(certain, certain).item() == 0.0
    one, two = ours.Categorical(mt.tensor([1.0, 0.0])), ours.Categorical(mt.tensor([1.0, 1.0]))
    assert ours.kl_divergence(two, one).item() == math.inf
    assert abs(ours.kl_divergence(one, two).item() - math.log(2)) < 1e-6


@pytest.mark.parametrize("name", MAKERS)
def test_samples_have_the_shapes_of_torch_and_no_graph(name: str) -> None:
    (_, _, mine), (_, _, wanted) = both(name)
    for shape in [(), (4,), (2, 3)]:
        drawn, theirs = mine.sample(shape), wanted.sample(shape)
        assert drawn.shape == tuple(theirs.shape)
        assert f"torch.{drawn.dtype.name}" == str(theirs.dtype)
        assert not drawn.requires_grad
    assert mine.sample((0,)).shape == (0, *mine.batch_shape)  # which torch cannot for classes


def test_samples_follow_the_distribution() -> None:
    mt.manual_seed(0)
    classes = ours.Categorical(mt.tensor(P)).sample((20_000,))
    shares = mt.stack([(classes == k).double().mean(0) for k in range(3)], dim=1)
    np.testing.assert_allclose(shares.numpy(), P / P.sum(1, keepdims=True), atol=0.02)
    coins = ours.Bernoulli(mt.tensor(HALVES)).sample((20_000,))
    np.testing.assert_allclose(coins.mean(0).numpy(), HALVES, atol=0.02)
    normal = ours.Normal(mt.tensor([1.0, -2.0]), mt.tensor([0.5, 3.0])).sample((20_000,))
    np.testing.assert_allclose(normal.mean(0).numpy(), [1.0, -2.0], atol=0.1)
    np.testing.assert_allclose(normal.std(0).numpy(), [0.5, 3.0], atol=0.1)


def test_samples_of_normal_are_differentiable() -> None:
    loc, scale = mt.zeros(3, requires_grad=True), mt.ones(3, requires_grad=True)
    drawn = ours.Normal(loc, scale).rsample((5,))
    drawn.sum().backward()
    assert loc.grad.tolist() == [5.0] * 3
    np.testing.assert_allclose(scale.grad.numpy(), drawn.detach().sum(0).numpy(), 1e-5)


def test_cdf_agrees_with_torch() -> None:
    compare([(i, d.cdf(library.tensor(VALUES["n"]))) for library, i, d in both("normal")])


@pytest.mark.parametrize("backend", ["simple", "numpy", "fast"])
def test_distributions_on_every_backend(backend: str) -> None:
    if backend == "fast":
        pytest.importorskip("mt_fast")
    with mt.use_backend(backend):
        chosen = ours.Categorical(logits=mt.tensor(LOGITS, dtype="float32"))
        assert chosen.log_prob(chosen.sample()).backend.name == backend
        assert ours.Normal(mt.zeros(2), 1.0).rsample().backend.name == backend


def test_invalid_arguments_of_distributions() -> None:
    with pytest.raises(SettingError, match="either probs or logits"):
        ours.Categorical()
    with pytest.raises(SettingError, match="either probs or logits"):
        ours.Bernoulli(0.5, logits=0.0)
    with pytest.raises(InputError, match="between 0 and 1"):
        ours.Bernoulli(mt.tensor([1.5]))
    with pytest.raises(InputError, match="non-negative"):
        ours.Categorical(mt.tensor([-1.0, 2.0]))
    with pytest.raises(InputError, match="not all zero"):
        ours.Categorical(mt.zeros(2))
    with pytest.raises(InputError, match="last dimension"):
        ours.Categorical(mt.tensor(1.0))
    with pytest.raises(InputError, match="floating-point"):
        ours.Categorical(mt.tensor([1, 2]))
    with pytest.raises(InputError, match="nan"):
        ours.Normal(mt.tensor(math.nan), 1.0)
    with pytest.raises(InputError, match="positive"):
        ours.Normal(0.0, 0.0)
    with pytest.raises(InputError, match="from 0 to 1"):
        ours.Categorical(mt.ones(2)).log_prob(mt.tensor(2))
    with pytest.raises(InputError, match="zeros and ones"):
        ours.Bernoulli(0.5).log_prob(mt.tensor(0.5))
    with pytest.raises(SettingError, match="no derivative"):
        ours.Categorical(mt.ones(2)).rsample()
    with pytest.raises(SettingError, match="two distributions of one class"):
        ours.kl_divergence(ours.Bernoulli(0.5), ours.Normal(0.0, 1.0))


def test_validation_can_be_disabled() -> None:
    """A look waits for a device; of what does not fit, nan comes."""
    assert ours.Normal(mt.tensor([math.nan]), 1.0, validate_args=False).mean.isnan().all()
    odd = ours.Bernoulli(mt.tensor([2.0]), validate_args=False)
    assert odd.probs.tolist() == [2.0]
    assert odd.log_prob(mt.tensor([0.5])).shape == (1,)
    try:
        ours.Distribution.set_default_validate_args(False)
        assert ours.Normal(0.0, -1.0).stddev.item() == -1.0
        with pytest.raises(InputError, match="positive standard deviations"):
            ours.Normal(0.0, -1.0, validate_args=True)
    finally:
        ours.Distribution.set_default_validate_args(True)
    with pytest.raises(InputError, match="positive standard deviations"):
        ours.Normal(0.0, -1.0)
