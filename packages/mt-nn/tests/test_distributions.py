"""Distributions: densities, moments, divergences and gradients as in torch, and samples."""

import math
import re
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_nn import distributions as ours
from mt_nn.distributions import constraints
from mt_nn.distributions.gamma import LogGamma, gamma_cdf, log_gamma_slope
from mt_nn.errors import InputError, SettingError

RNG = np.random.default_rng(0)
P = np.array([[0.2, 0.5, 0.3], [1.0, 3.0, 0.5]])
LOGITS = np.array([[-1.0, 2.0, 0.5], [30.0, -30.0, 0.0]])
PROBS = np.array([0.2, 0.5, 1.0])
PROBABILITIES = P / P.sum(1, keepdims=True)
REAL = np.array([0.5, -1.0, 3.0])
POSITIVE = np.array([0.3, 1.0, 2.5])
FRACTIONS = np.array([0.3, 0.01, 0.9])
CONCENTRATIONS = np.array([[0.3, 1.5, 40.0], [1.7, 3.0, 2.5]])
COLUMN = np.array([[0.5], [2.0]])
FACTORS = np.array([[[2.0, 0.0], [0.5, 1.0]], [[0.5, 0.0], [-1.0, 3.0]]])
COVARIANCES = FACTORS @ FACTORS.swapaxes(1, 2)

CASES: dict[str, tuple[Any, list[Any], Any]] = {
    "bernoulli of probs": (lambda d, p: d.Bernoulli(p), [PROBS], np.array([1.0, 0.0, 1.0])),
    "bernoulli of logits": (
        lambda d, x: d.Bernoulli(logits=x),
        [LOGITS[0]],
        np.array([1.0, 0.0, 1.0]),
    ),
    "categorical of probs": (lambda d, p: d.Categorical(p), [P], np.array([1, 2])),
    "categorical of logits": (lambda d, x: d.Categorical(logits=x), [LOGITS], np.array([1, 2])),
    "one categorical": (lambda d, p: d.Categorical(probs=p), [P[0]], np.array([[1], [2]])),
    "one hot": (lambda d, p: d.OneHotCategorical(p), [P], np.eye(3)[:, None]),
    "poisson": (lambda d, r: d.Poisson(r), [POSITIVE], np.array([[0.0], [3.0]])),
    "normal": (lambda d, m, s: d.Normal(m, s), [PROBS, COLUMN], REAL),
    "normal of a float": (lambda d, m: d.Normal(m, 2.0), [PROBS], REAL),
    "log normal": (lambda d, m, s: d.LogNormal(m, s), [REAL, 0.3 * COLUMN], POSITIVE),
    "multivariate normal of covariance": (
        lambda d, m, c: d.MultivariateNormal(m, c),
        [P[0, :2], COVARIANCES],
        REAL[:2],
    ),
    "multivariate normal of precision": (
        lambda d, m, c: d.MultivariateNormal(m, precision_matrix=c),
        [P[:, :2], COVARIANCES[0]],
        RNG.normal(size=(4, 1, 2)),
    ),
    "multivariate normal of factor": (
        lambda d, m, c: d.MultivariateNormal(m, scale_tril=c),
        [P[0, :2], FACTORS],
        REAL[1:],
    ),
    "uniform": (lambda d, a, b: d.Uniform(a, b), [PROBS, PROBS + COLUMN], PROBS + 0.1),
    "exponential": (lambda d, r: d.Exponential(r), [COLUMN], POSITIVE),
    "laplace": (lambda d, m, s: d.Laplace(m, s), [PROBS, COLUMN], REAL),
    "cauchy": (lambda d, m, s: d.Cauchy(m, s), [PROBS, COLUMN], REAL),
    "gamma": (lambda d, a, r: d.Gamma(a, r), [CONCENTRATIONS, COLUMN], POSITIVE),
    "beta": (lambda d, a, b: d.Beta(a, b), [CONCENTRATIONS, 1.0 + COLUMN], FRACTIONS),
    "dirichlet": (lambda d, c: d.Dirichlet(c), [CONCENTRATIONS], PROBABILITIES),
    "relaxed bernoulli": (
        lambda d, t, p: d.RelaxedBernoulli(t, p),
        [np.array(0.7), FRACTIONS],
        np.array([[0.2], [0.9]]),
    ),
    "relaxed one hot": (
        lambda d, t, x: d.RelaxedOneHotCategorical(t, logits=x),
        [np.array(0.7), LOGITS / 10.0],
        PROBABILITIES[0],
    ),
    "independent": (
        lambda d, m, s: d.Independent(d.Laplace(m, s), 1),
        [PROBS, COLUMN],
        RNG.normal(size=(4, 1, 3)),
    ),
}
"""By name: a function that makes the distribution, its parameters, and values to evaluate."""

FORMULAS = {
    name: lambda d, value, name=name: getattr(d, name)
    for name in ("mean", "mode", "variance", "stddev")
}
FORMULAS["entropy"] = lambda d, value: d.entropy()
FORMULAS["log_prob"] = lambda d, value: d.log_prob(value)
FORMULAS["cdf"] = lambda d, value: d.cdf(value)
FORMULAS["icdf"] = lambda d, value: d.icdf(value)


def make_distribution(name: str, **options: Any) -> tuple[list[Any], Any]:
    """Return the parameters and the distribution."""
    make, arrays, _ = CASES[name]
    inputs = [mt.tensor(array, **options) for array in arrays]
    return inputs, make(ours, *inputs)


def make_ours_and_torchs(name: str) -> list[Any]:
    """Return the library, the parameters and the distribution, for ours and for torch."""
    torch = pytest.importorskip("torch")
    theirs = torch.distributions

    make, arrays, _ = CASES[name]
    found = []
    for library, names in ((mt, ours), (torch, theirs)):
        inputs = [library.tensor(array, requires_grad=True) for array in arrays]
        found.append((library, inputs, make(names, *inputs)))
    return found


def compare(results: list[tuple[list[Any], Any]]) -> None:
    """Compare shapes, values and gradients."""
    (mine, found), (others, expected) = results
    assert found.shape == tuple(expected.shape)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), 1e-6, 1e-9)
    if expected.isnan().all():  # torch records a graph nevertheless
        return
    assert found.requires_grad == expected.requires_grad
    if not found.requires_grad:
        return
    found.sum().backward()
    expected.sum().backward()
    for a, b in zip(mine, others, strict=True):
        if b.grad is not None:
            np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), 1e-6, 1e-9)


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("name", CASES)
def test_moments_entropy_and_densities_match_torch(name: str, formula: str) -> None:
    value = FRACTIONS[:, None, None] if formula == "icdf" else CASES[name][2]
    (library, inputs, mine), (other, parameters, theirs) = make_ours_and_torchs(name)
    compute = FORMULAS[formula]
    if (name, formula) == ("gamma", "cdf"):  # torch has no gradient for the concentration
        parameters[0].requires_grad_(False)
        inputs[0].requires_grad_(False)
    try:
        expected = compute(theirs, other.tensor(value))
    except (NotImplementedError, AttributeError):
        with pytest.raises(SettingError, match="has no formula for"):
            compute(mine, library.tensor(value))
        return
    compare([(inputs, compute(mine, library.tensor(value))), (parameters, expected)])


PAIRS = [
    ("bernoulli of probs", "bernoulli of logits"),
    ("categorical of probs", "categorical of logits"),
    ("normal", "normal of a float"),
    ("one hot", "one hot"),
    ("poisson", "poisson"),
    ("log normal", "log normal"),
    ("multivariate normal of covariance", "multivariate normal of precision"),
    ("uniform", "uniform"),
    ("laplace", "laplace"),
    ("cauchy", "cauchy"),
    ("beta", "beta"),
    ("dirichlet", "dirichlet"),
    ("independent", "independent"),
    ("bernoulli of logits", "poisson"),
    ("normal", "laplace"),
    ("beta", "exponential"),
    *[(one, "normal") for one in ("beta", "exponential", "gamma", "laplace", "uniform")],
    *[(one, other) for one in ("exponential", "gamma") for other in ("exponential", "gamma")],
]
"""Pairs of classes; the second distribution has other parameters than the first."""


def make_other(library: Any, names: Any, name: str) -> tuple[list[Any], Any]:
    """Return other parameters, and the distribution of the named class with them."""
    make, arrays, _ = CASES[name]
    if name == "uniform":
        arrays = [arrays[0] - 0.5, arrays[1] + 1.0]
    elif "of" not in name and name != "independent":
        arrays = [1.5 * array for array in arrays]
    inputs = [library.tensor(array, requires_grad=True) for array in arrays]
    return inputs, make(names, *inputs)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{p} to {q}" for p, q in PAIRS])
def test_kl_divergence_matches_torch(one: str, other: str) -> None:
    theirs = pytest.importorskip("torch.distributions")

    results = []
    for (library, inputs, p), names in zip(make_ours_and_torchs(one), (ours, theirs), strict=True):
        parameters, q = make_other(library, names, other)
        results.append((inputs + parameters, names.kl_divergence(p, q)))
    compare(results)


def test_kl_divergence_is_infinite_if_q_excludes_a_possible_event() -> None:
    certain, even = ours.Bernoulli(mt.tensor(1.0)), ours.Bernoulli(mt.tensor(0.5))
    assert ours.kl_divergence(even, certain).item() == math.inf
    assert ours.kl_divergence(certain, certain).item() == 0.0
    one, two = ours.Categorical(mt.tensor([1.0, 0.0])), ours.Categorical(mt.tensor([1.0, 1.0]))
    assert ours.kl_divergence(two, one).item() == math.inf
    assert abs(ours.kl_divergence(one, two).item() - math.log(2)) < 1e-6


@pytest.mark.parametrize("name", CASES)
def test_samples_have_shape_and_dtype_as_in_torch_and_no_graph(name: str) -> None:
    (_, _, mine), (_, _, expected) = make_ours_and_torchs(name)
    for shape in [(), (4,), (2, 3)]:
        samples, theirs = mine.sample(shape), expected.sample(shape)
        assert samples.shape == tuple(theirs.shape)
        assert f"torch.{samples.dtype.name}" == str(theirs.dtype)
        assert not samples.requires_grad
    assert (mine.batch_shape, mine.event_shape) == (expected.batch_shape, expected.event_shape)
    assert mine.has_rsample == expected.has_rsample
    assert mine.sample((0,)).shape == (0, *mine.batch_shape, *mine.event_shape)
    larger = mine.expand((2, *mine.batch_shape))
    assert larger.batch_shape == (2, *mine.batch_shape)
    assert larger.sample((3,)).shape == (3, 2, *mine.sample().shape)
    value = mine.sample()
    assert (larger.log_prob(value) == mine.log_prob(value)).all()


def test_categorical_bernoulli_and_normal_samples_have_expected_moments() -> None:
    mt.manual_seed(0)
    classes = ours.Categorical(mt.tensor(P)).sample((20_000,))
    frequencies = mt.stack([(classes == k).double().mean(0) for k in range(3)], dim=1)
    np.testing.assert_allclose(frequencies.numpy(), P / P.sum(1, keepdims=True), atol=0.02)
    coins = ours.Bernoulli(mt.tensor(PROBS)).sample((20_000,))
    np.testing.assert_allclose(coins.mean(0).numpy(), PROBS, atol=0.02)
    normal = ours.Normal(mt.tensor([1.0, -2.0]), mt.tensor([0.5, 3.0])).sample((20_000,))
    np.testing.assert_allclose(normal.mean(0).numpy(), [1.0, -2.0], atol=0.1)
    np.testing.assert_allclose(normal.std(0).numpy(), [0.5, 3.0], atol=0.1)


def test_rsample_of_normal_propagates_gradients() -> None:
    loc, scale = mt.zeros(3, requires_grad=True), mt.ones(3, requires_grad=True)
    samples = ours.Normal(loc, scale).rsample((5,))
    samples.sum().backward()
    assert loc.grad.tolist() == [5.0] * 3
    np.testing.assert_allclose(scale.grad.numpy(), samples.detach().sum(0).numpy(), 1e-5)


# --- Integrals of the density, without torch -----------------------------------------------------

STEPS = np.arange(-80.0, 36.0, 1e-3)
FINITE = [
    *("poisson", "normal", "log normal", "uniform", "exponential", "laplace", "gamma", "beta"),
    *("bernoulli of logits", "relaxed bernoulli"),
]
"""Univariate distributions with finite moments."""


def quadrature(name: str, d: Any) -> tuple[Any, Any]:
    """Return values over the whole support, along the first dimension, and quadrature weights."""
    if d.support in (constraints.boolean, constraints.nonnegative_integer):
        values = np.arange(2.0 if d.support is constraints.boolean else 200.0)
        weights = np.ones(len(values))
    elif d.support is constraints.real:
        values, weights = np.sinh(STEPS), np.cosh(STEPS)
    elif d.support is constraints.unit_interval:
        values = 1.0 / (1.0 + np.exp(-STEPS))
        weights = values / (1.0 + np.exp(STEPS))
    elif name == "uniform":
        values = np.arange(0.5, 10_000.0) / 10_000.0
        low, high = d.low.numpy(), d.high.numpy()
        return low + (high - low) * values[:, None, None], (high - low) / 10_000.0
    else:
        values = weights = np.exp(STEPS)
    if len(values) == len(STEPS):
        weights = weights * 1e-3
    shape = (-1, *[1] * len(d.batch_shape))
    return values.reshape(shape), weights.reshape(shape)


@pytest.mark.parametrize("name", [*FINITE, "cauchy"])
def test_moments_and_entropy_equal_integrals_of_the_density(name: str) -> None:
    _, d = make_distribution(name)
    values, weights = quadrature(name, d)
    with np.errstate(all="ignore"):
        logs = d.log_prob(mt.tensor(values)).numpy()
        density = np.exp(logs) * weights
        np.testing.assert_allclose(density.sum(0), np.ones(d.batch_shape), 1e-6)
        terms = np.where(density == 0.0, 0.0, density * logs)
    if name not in ("poisson", "relaxed bernoulli"):
        np.testing.assert_allclose(d.entropy().numpy(), -terms.sum(0), 1e-5, 1e-7)
    if name not in ("cauchy", "relaxed bernoulli"):
        mean = (density * values).sum(0)
        np.testing.assert_allclose(d.mean.numpy(), mean, 1e-6)
        variance = (density * (values - mean) ** 2).sum(0)
        np.testing.assert_allclose(d.variance.numpy(), variance, 1e-5)


@pytest.mark.parametrize(
    ("name", "d"),
    [
        ("dirichlet", ours.Dirichlet(mt.tensor([0.5, 3.0], dtype="float64"))),
        ("relaxed one hot", ours.RelaxedOneHotCategorical(0.7, mt.tensor([0.5, 3.0]).double())),
    ],
    ids=["dirichlet", "relaxed one hot"],
)
def test_density_on_the_simplex_integrates_to_1(name: str, d: Any) -> None:
    first = 1.0 / (1.0 + np.exp(-STEPS))
    second = 1.0 / (1.0 + np.exp(STEPS))
    density = d.log_prob(mt.tensor(np.stack([first, second], -1))).exp().numpy()
    assert abs((density * first * second).sum() * 1e-3 - 1.0) < 1e-5


def test_multivariate_normal_density_integrates_to_1() -> None:
    _, d = make_distribution("multivariate normal of covariance")
    line = np.arange(-25.0, 25.0, 0.1)
    grid = mt.tensor(np.stack(np.meshgrid(line, line), -1)[:, :, None])
    np.testing.assert_allclose(d.log_prob(grid).exp().sum((0, 1)).numpy() * 0.01, [1.0, 1.0], 1e-6)
    np.testing.assert_allclose(
        (d.covariance_matrix @ d.precision_matrix)[1].numpy(), np.eye(2), atol=1e-9
    )


WITH_CDF = [
    *("normal", "log normal", "uniform", "exponential", "laplace", "cauchy", "gamma"),
]


@pytest.mark.parametrize("name", WITH_CDF)
def test_density_is_the_derivative_of_the_cdf(name: str) -> None:
    _, d = make_distribution(name)
    value = (mt.tensor(CASES[name][2]) + mt.zeros(d.batch_shape)).requires_grad_()
    d.cdf(value).sum().backward()
    np.testing.assert_allclose(value.grad.numpy(), d.log_prob(value).exp().detach().numpy(), 1e-9)
    if name != "gamma":
        probability = mt.tensor(FRACTIONS[:, None, None]).expand(3, *d.batch_shape)
        np.testing.assert_allclose(d.cdf(d.icdf(probability)).numpy(), probability.numpy(), 1e-9)


@pytest.mark.parametrize(
    ("one", "other"),
    [pair for pair in PAIRS if {*pair} <= {*FINITE, "cauchy"} - {"poisson"}],
    ids=lambda name: name,
)
def test_kl_divergence_equals_its_integral(one: str, other: str) -> None:
    _, p = make_distribution(one)
    _, q = make_other(mt, ours, other)
    values, weights = quadrature(one, p)
    with np.errstate(all="ignore"):
        value = mt.tensor(values)
        logs = p.log_prob(value).numpy()
        expected = np.exp(logs) * weights * (logs - q.log_prob(value).detach().numpy())
    expected = np.where(np.exp(logs) * weights == 0.0, 0.0, expected).sum(0)
    np.testing.assert_allclose(ours.kl_divergence(p, q).detach().numpy(), expected, 1e-5, 1e-8)


# --- Samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_CDF)
def test_samples_follow_the_cdf(name: str) -> None:
    """The Kolmogorov-Smirnov statistic is below its quantile of 1 - 1e-6."""
    _, d = make_distribution(name)
    mt.manual_seed(0)
    count = 20_000
    probabilities = np.sort(d.cdf(d.sample((count,))).numpy(), axis=0).reshape(count, -1)
    steps = np.arange(count)[:, None] / count
    distance = np.maximum(probabilities - steps, steps + 1.0 / count - probabilities).max(0)
    assert (distance < 2.7 / math.sqrt(count)).all()


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in CASES
        if name != "cauchy" and "categorical" not in name and "rel" not in name
    ],
)
def test_samples_have_expected_mean_and_variance(name: str) -> None:
    _, d = make_distribution(name)
    mt.manual_seed(0)
    samples = d.sample((20_000,)).numpy()
    mean, variance = d.mean.numpy(), d.variance.numpy()
    assert (np.abs(samples.mean(0) - mean) <= 5.0 * np.sqrt(variance / 20_000)).all()
    squares = (samples - mean) ** 2
    error = 6.0 * squares.std(0) / math.sqrt(20_000)
    assert (np.abs(squares.mean(0) - variance) <= error).all()


@pytest.mark.parametrize("name", ["relaxed bernoulli", "relaxed one hot"])
def test_rounded_relaxed_samples_have_expected_frequencies(name: str) -> None:
    _, d = make_distribution(name)
    mt.manual_seed(0)
    samples = d.sample((20_000,))
    chosen = samples > 0.5 if name.endswith("i") else samples == samples.amax(-1, keepdim=True)
    np.testing.assert_allclose(chosen.double().mean(0).numpy(), d.probs.numpy(), atol=0.02)
    np.testing.assert_allclose(
        ours.RelaxedOneHotCategorical(0.01, mt.tensor(P)).sample((5,)).amax(-1).numpy(),
        1.0,
        atol=0.2,
    )


@pytest.mark.parametrize(
    "name",
    ["normal", "log normal", "uniform", "exponential", "laplace", "gamma", "beta", "dirichlet"],
)
def test_rsample_gradient_estimates_gradient_of_the_mean(name: str) -> None:
    """The gradient of the mean of samples estimates the gradient of the mean."""
    weights = mt.tensor(
        np.random.default_rng(0).normal(size=make_distribution(name)[1].sample().shape)
    )

    def gradient(result: Any) -> Any:
        (first, *_), d = make_distribution(name, requires_grad=True)
        (result(d) * weights).sum().backward()
        return first.grad.numpy()

    mt.manual_seed(0)
    gradients = [gradient(lambda d: d.rsample((500,)).mean(0)) for _ in range(40)]
    error = 5.0 * np.std(gradients, axis=0) / math.sqrt(40) + 1e-9
    assert (np.abs(np.mean(gradients, axis=0) - gradient(lambda d: d.mean)) <= error).all()


QUANTILES = [
    (0.01, -69.0),
    (0.3, -2.0),
    (1.0, 0.5),
    (2.0, 0.1),
    (30.0, 3.7),
    (1e4, 9.2),
    (5.0, -3.0),
]


@pytest.mark.parametrize(("a", "log_z"), QUANTILES)
def test_gamma_cdf_and_sample_gradient_match_mpmath(a: float, log_z: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        z, step = mpmath.exp(log_z), mpmath.mpf(a) * mpmath.mpf("1e-12")

        def cdf(a: Any) -> Any:
            return mpmath.gammainc(a, 0, z, regularized=True)

        expected = cdf(mpmath.mpf(a))
        slope = (cdf(a + step) - cdf(a - step)) / (2 * step)
        log_density = a * log_z - z - mpmath.loggamma(a)  # of log z
        gradient = float(-slope / mpmath.exp(log_density))
    concentration, logarithm = (
        mt.tensor(x, dtype="float64", requires_grad=x is a) for x in (a, log_z)
    )
    probability = gamma_cdf(concentration, logarithm.exp())
    assert abs(probability.item() / float(expected) - 1.0) < 1e-10
    assert abs(log_gamma_slope(concentration, logarithm).item() / gradient - 1.0) < 1e-10
    probability.backward()
    assert abs(concentration.grad.item() / float(slope) - 1.0) < 1e-8


def test_second_derivative_of_gamma_sample_matches_differences() -> None:
    a = mt.tensor([0.3, 2.0, 40.0], dtype="float64", requires_grad=True)
    samples = LogGamma.apply(a)
    (slope,) = mt.autograd.grad(samples.sum(), [a], create_graph=True)
    (second,) = mt.autograd.grad(slope.sum(), [a])
    step, rise = 1e-4 * a.detach(), slope.detach() * 1e-4 * a.detach()
    ends = [
        log_gamma_slope(a.detach() + sign * step, samples.detach() + sign * rise)
        for sign in (1, -1)
    ]
    np.testing.assert_allclose(second.numpy(), ((ends[0] - ends[1]) / (2 * step)).numpy(), 1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("multivariate")])
def test_samples_have_the_dtype_of_parameters_and_finite_densities(name: str, dtype: str) -> None:
    _, d = make_distribution(name, dtype=dtype)
    mt.manual_seed(0)
    samples = d.sample((50,))
    assert samples.dtype.name == ("int64" if "categorical" in name else dtype)
    logs = d.log_prob(samples)
    assert logs.dtype.name == dtype
    assert logs.isfinite().all()


def test_samples_for_tiny_concentrations_are_finite() -> None:
    tiny = mt.full((100,), 1e-3, requires_grad=True)
    mt.manual_seed(0)
    for d in (ours.Gamma(tiny, 1.0), ours.Beta(tiny, tiny), ours.Dirichlet(tiny)):
        samples = d.rsample()
        samples.sum().backward()
        assert samples.isfinite().all()
        assert tiny.grad.isfinite().all()
    assert (ours.Gamma(tiny, 1.0).sample() > 0).all()


@pytest.mark.parametrize("backend", ["simple", "numpy", "fast"])
def test_samples_and_log_prob_are_on_the_current_backend(backend: str) -> None:
    if backend == "fast":
        pytest.importorskip("mt_fast")
    with mt.use_backend(backend):
        chosen = ours.Categorical(logits=mt.tensor(LOGITS, dtype="float32"))
        assert chosen.log_prob(chosen.sample()).backend.name == backend
        assert ours.Normal(mt.zeros(2), 1.0).rsample().backend.name == backend


@pytest.mark.parametrize("backend", ["simple", "fast"])
@pytest.mark.parametrize("name", CASES)
def test_seed_gives_the_same_samples_on_every_backend(name: str, backend: str) -> None:
    if backend == "fast":
        pytest.importorskip("mt_fast")
    samples = []
    for each in ("numpy", backend):
        with mt.use_backend(each):
            mt.manual_seed(3)
            samples.append(make_distribution(name)[1].sample((3,)))
    assert samples[1].backend.name == backend
    np.testing.assert_allclose(samples[1].numpy(), samples[0].numpy(), 1e-9)


def test_invalid_distribution_arguments_raise() -> None:
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
    with pytest.raises(
        InputError, match=r"Gamma takes positive numbers as rate; tensor\(\[ 1., -1.\]\) was given"
    ):
        ours.Gamma(1.0, mt.tensor([1.0, -1.0]))
    with pytest.raises(InputError, match="Uniform takes numbers greater than low as high; 1.0 was"):
        ours.Uniform(1.0, 1.0)
    with pytest.raises(
        InputError, match="takes numbers from low to high as value of log_prob.*; 2.0 was"
    ):
        ours.Uniform(0.0, 1.0).log_prob(mt.tensor(2.0))
    for wrong in (-mt.eye(2), mt.ones(2, 2).triu(), mt.full((2, 2), math.nan)):
        with pytest.raises(InputError, match="symmetric positive definite .* as covariance_matrix"):
            ours.MultivariateNormal(mt.zeros(2), wrong)
    with pytest.raises(InputError, match="lower triangular .* as scale_tril"):
        ours.MultivariateNormal(mt.zeros(2), scale_tril=mt.ones(2, 2))
    with pytest.raises(
        InputError, match=r"equal event sizes; loc \(2,\), covariance_matrix \(3, 3\)"
    ):
        ours.MultivariateNormal(mt.zeros(2), mt.eye(3))
    for matrices in ({}, {"covariance_matrix": mt.eye(2), "scale_tril": mt.eye(2)}):
        with pytest.raises(SettingError, match="takes one of covariance_matrix, precision_matrix"):
            ours.MultivariateNormal(mt.zeros(2), **matrices)
    with pytest.raises(InputError, match="in the last dimension of concentration"):
        ours.Dirichlet(1.0)
    with pytest.raises(InputError, match="Dirichlet takes .* that sum to 1 as value of log_prob"):
        ours.Dirichlet(mt.ones(2)).log_prob(mt.ones(2))
    with pytest.raises(InputError, match="a single 1"):
        ours.OneHotCategorical(mt.ones(2)).log_prob(mt.ones(2))
    with pytest.raises(InputError, match="non-negative integers as value of .*; 0.5 was"):
        ours.Poisson(1.0).log_prob(mt.tensor(0.5))
    with pytest.raises(SettingError, match="at most the 1 dimensions of the batch"):
        ours.Independent(ours.Normal(mt.zeros(2), 1.0), 2)
    normal = ours.Normal(mt.zeros(2), 1.0)
    with pytest.raises(SettingError, match="same reinterpreted_batch_ndims; got 1 and 0"):
        ours.kl_divergence(ours.Independent(normal, 1), ours.Independent(normal, 0))
    with pytest.raises(
        SettingError, match="Bernoulli and Normal; .* two distributions of the same class"
    ):
        ours.kl_divergence(ours.Bernoulli(0.5), ours.Normal(0.0, 1.0))


def test_validation_can_be_disabled() -> None:
    """Validation synchronizes with the device. Without it, invalid parameters are accepted."""
    assert ours.Normal(mt.tensor([math.nan]), 1.0, validate_args=False).mean.isnan().all()
    odd = ours.Bernoulli(mt.tensor([2.0]), validate_args=False)
    assert odd.probs.tolist() == [2.0]
    assert odd.log_prob(mt.tensor([0.5])).shape == (1,)
    try:
        ours.Distribution.set_default_validate_args(False)
        assert ours.Normal(0.0, -1.0).stddev.item() == -1.0
        with pytest.raises(
            InputError, match="Normal takes positive numbers as scale; -1.0 was given"
        ):
            ours.Normal(0.0, -1.0, validate_args=True)
    finally:
        ours.Distribution.set_default_validate_args(True)
    with pytest.raises(InputError, match="Normal takes positive numbers as scale; -1.0 was given"):
        ours.Normal(0.0, -1.0)


@pytest.mark.parametrize("name", ["Categorical", "OneHotCategorical", "Bernoulli"])
@pytest.mark.parametrize("parameter_name", ["probs", "logits"])
def test_parameter_first_computed_in_no_grad_is_differentiable(
    name: str, parameter_name: str
) -> None:
    parameter = mt.tensor([0.2, 0.3], requires_grad=True)
    d = getattr(ours, name)(**{parameter_name: parameter})
    with mt.no_grad():
        d.probs, d.logits  # noqa: B018
    other = d.logits if parameter_name == "probs" else d.probs
    other[0].backward()
    assert parameter.grad is not None
    assert parameter.grad[0] > 0


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Normal", (0.0, 1.0)),
        ("Uniform", (0.0, 0.1)),
        ("Poisson", (2.0,)),
        ("Bernoulli", (0.5,)),
        ("Dirichlet", ([[1.0, 2.0]],)),
    ],
)
def test_repr_of_distribution_matches_torch(name: str, arguments: tuple[Any, ...]) -> None:
    torch = pytest.importorskip("torch")
    found = repr(getattr(ours, name)(*map(mt.tensor, arguments)))
    expected = repr(getattr(torch.distributions, name)(*map(torch.tensor, arguments)))
    assert found == re.sub(r"torch.Size\(\[(.*?)\]\)", r"(\1)", expected)


def test_repr_of_independent_shows_its_base() -> None:
    d = ours.Independent(ours.Normal(mt.zeros(3), 1.0), 1)
    assert repr(d) == "Independent(Normal(loc: (3,), scale: (3,)), 1)"
