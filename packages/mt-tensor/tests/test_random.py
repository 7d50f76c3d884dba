"""Random tensors: generators, equal numbers on all backends, distributions, bounds and errors."""

import pickle
import threading
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor import errors
from mt_tensor.backends.extending import take_blocks
from mt_tensor.extending import fork_rng, numbers_of, seed, use_generator
from mt_tensor.randomness.sampling import uniform, unit

BACKENDS = ("numpy", "simple")

DRAWS: list[Any] = [
    lambda **o: mt.rand(3, 2, **o),
    lambda **o: mt.randn(3, 2, **o),
    lambda **o: mt.rand_like(mt.ones(3, dtype="float64", backend=o.pop("backend", None)), **o),
    lambda **o: mt.randn_like(mt.ones(3, backend=o.pop("backend", None)), **o),
    lambda **o: mt.randint(5, (7,), **o),
    lambda **o: mt.randint_like(mt.ones(5, backend=o.pop("backend", None)), 2, 9, **o),
    lambda **o: mt.randperm(9, **o),
    lambda **o: mt.normal(1.0, 2.0, (4,), **o),
    lambda **o: mt.normal(mt.zeros(4, backend=o.pop("backend", None)), 2.0, **o),
    lambda **o: mt.full((9,), 0.5, backend=o.pop("backend", None)).bernoulli(**o),
    lambda **o: mt.ones(9, backend=o.pop("backend", None)).multinomial(4, **o),
    lambda **o: mt.ones(2, 9, backend=o.pop("backend", None)).multinomial(4, True, **o),
    lambda **o: mt.empty(4, backend=o.pop("backend", None)).uniform_(1, 2, **o),
    lambda **o: mt.empty(4, backend=o.pop("backend", None)).normal_(1, 2, **o),
    lambda **o: mt.empty(9, backend=o.pop("backend", None)).bernoulli_(0.5, **o),
]


# --- Seeds and generators -----------------------------------------------------------------------


@pytest.mark.parametrize("draw", DRAWS)
def test_seed_gives_the_same_numbers_on_every_backend(draw: Any) -> None:
    results = []
    for backend in BACKENDS:
        mt.manual_seed(3)
        results.append(draw(backend=backend))
        assert results[-1].backend.name == backend
        results.append(draw(backend=backend, generator=mt.Generator().manual_seed(3)))
    for other in results[1:]:
        assert other.dtype is results[0].dtype
        assert np.array_equal(other.numpy(), results[0].numpy())


@pytest.mark.parametrize("draw", DRAWS)
def test_generator_argument_leaves_default_generator_unchanged(draw: Any) -> None:
    before = mt.get_rng_state()
    draw(generator=mt.Generator())
    assert mt.get_rng_state() == before
    draw()
    assert mt.get_rng_state() != before
    with pytest.raises(TypeError, match=r"takes an mt_tensor\.Generator"):
        draw(generator=3)


def test_generator_seed_state_and_pickle_reproduce_numbers() -> None:
    one = mt.Generator()
    assert one.manual_seed(5) is one
    assert one.initial_seed() == 5
    assert repr(one) == "<mt_tensor.Generator seed=5>"
    state = one.get_state()
    twin = pickle.loads(pickle.dumps(one))
    first = mt.rand(3, generator=one)
    assert np.array_equal(mt.rand(3, generator=twin), first)
    one.set_state(state)
    assert np.array_equal(mt.rand(3, generator=one), first)
    assert one.seed() == one.initial_seed() != mt.Generator().initial_seed()
    assert mt.manual_seed(7) is mt.default_generator
    assert mt.initial_seed() == 7
    state = mt.get_rng_state()
    first = mt.rand(3)
    mt.set_rng_state(state)
    assert np.array_equal(mt.rand(3), first)


def test_manual_seed_rejects_negative_and_fractional_numbers() -> None:
    with pytest.raises(errors.DomainError, match="seed must be a non-negative integer; -1"):
        mt.manual_seed(-1)
    with pytest.raises(TypeError, match="seed must be an integer; 1.5"):
        mt.manual_seed(1.5)  # type: ignore[arg-type]


def test_use_generator_replaces_default_in_this_thread_only() -> None:
    mt.manual_seed(7)
    expected = mt.rand(2).tolist() + mt.rand(1).tolist() + mt.rand(1).tolist()
    mt.manual_seed(7)
    numbers = mt.rand(2).tolist()
    in_thread: list[float] = []
    with use_generator(mt.Generator().manual_seed(3)) as other:
        inside = mt.rand(2)
        thread = threading.Thread(target=lambda: in_thread.append(mt.rand(1).item()))
        thread.start()
        thread.join()
        assert mt.initial_seed() == 3
        assert mt.manual_seed(3) is other
        assert np.array_equal(mt.rand(2), inside)
    assert numbers + in_thread + mt.rand(1).tolist() == expected


# --- Philox blocks ------------------------------------------------------------------------------


def philox_block(key: tuple[int, int], counter: int) -> list[int]:
    """Return a block of Philox4x64-10, computed as its authors define it."""
    low, mask = [counter, 0, 0, 0], 2**64 - 1
    first, second = key
    for _ in range(10):
        a, b = 0xD2E7470EE14C6C93 * low[0], 0xCA5A826395121157 * low[2]
        low = [(b >> 64) ^ low[1] ^ first, b & mask, (a >> 64) ^ low[3] ^ second, a & mask]
        first = (first + 0x9E3779B97F4A7C15) & mask
        second = (second + 0xBB67AE8584CAA73B) & mask
    return low


def rand_from_blocks(generator: mt.Generator, shape: tuple[int, ...], dtype: mt.DType) -> Any:
    """Return the numbers of `rand`, from blocks that are computed here instead of by NumPy."""
    bits = 64 if dtype is mt.float64 else 32
    size = int(np.prod(shape))
    count = -(-size * bits // 256)
    key, first = take_blocks(numbers_of(generator), count)
    blocks = np.array([philox_block(key, first + i) for i in range(count)], np.uint64).reshape(-1)
    digits = np.finfo(dtype.numpy).nmant + 1
    row = blocks.view("<u4" if bits == 32 else "<u8")[:size] >> (bits - digits)
    return np.ldexp(row.astype(np.float64), -digits).astype(dtype.numpy).reshape(shape)


@pytest.mark.parametrize("dtype", [mt.float16, mt.float32, mt.float64], ids=lambda d: d.name)
def test_backend_that_computes_blocks_draws_the_same_numbers(dtype: mt.DType) -> None:
    """This holds even if draws of other sizes and distributions come in between."""
    host, other = (mt.Generator().manual_seed(2**70 + 5) for _ in range(2))
    shapes = [(3,), (), (8,), (0,), (4, 5), (1,), (129,)]
    for k, shape in enumerate(shapes):
        expected = mt.rand(*shape, dtype=dtype, generator=host).numpy()
        assert np.array_equal(rand_from_blocks(other, shape, dtype), expected)
        if k % 2:
            numbers = [mt.randn(k, generator=each).tolist() for each in (host, other)]
            assert numbers[0] == numbers[1]
    assert host.get_state() == other.get_state()


def test_generator_state_is_seed_and_block_count() -> None:
    generator = mt.Generator().manual_seed(9)
    assert generator.get_state() == {"seed": 9, "blocks": 0}
    mt.rand(9, generator=generator)
    mt.rand(1, dtype="float64", generator=generator)
    assert generator.get_state() == {"seed": 9, "blocks": 3}
    state = {"seed": 9, "blocks": 2**64 + 3}
    generator.set_state(state)
    assert generator.get_state() == state


# --- Distributions ------------------------------------------------------------------------------


def assert_uniform(values: Any, low: float, high: float) -> None:
    """Check that values are uniform: 20 bins, each within 5 standard deviations."""
    counts, _ = np.histogram(values, 20, (low, high))
    assert counts.sum() == values.size
    expected = values.size / 20
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


def assert_normal(values: Any, mean: float, std: float) -> None:
    """Check the first four moments, within 5 of their own standard deviations."""
    z = (values.astype(np.float64) - mean) / std
    for power, (moment, variance) in enumerate([(0, 1), (1, 2), (0, 15), (3, 96)], 1):
        assert abs((z**power).mean() - moment) < 5 * np.sqrt(variance / z.size), power


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_samples_follow_their_distribution(dtype: str) -> None:
    mt.manual_seed(11)
    n = 20_000
    for x in (mt.rand(n, dtype=dtype), mt.rand_like(mt.empty(n, dtype=dtype))):
        assert x.dtype.name == dtype
        assert_uniform(x.numpy(), 0, 1)
    assert_uniform(mt.empty(n, dtype=dtype).uniform_(-2, 6).numpy(), -2, 6)
    assert_uniform(mt.empty(n, dtype=dtype).uniform_(-2, 6).numpy(), -2, 6)
    assert_normal(mt.randn(n, dtype=dtype).numpy(), 0, 1)
    assert_normal(mt.randn_like(mt.empty(n, dtype=dtype)).numpy(), 0, 1)
    assert_normal(mt.normal(1.0, 3.0, (n,), dtype=dtype).numpy(), 1, 3)
    assert_normal(mt.empty(n, dtype=dtype).normal_(1, 3).numpy(), 1, 3)
    ones = mt.full((n,), 0.3, dtype=dtype).bernoulli()
    assert ones.dtype.name == dtype
    assert set(ones.tolist()) == {0, 1}
    for drawn in (ones, ones.bernoulli(0.3), mt.empty(n, dtype=dtype).bernoulli_(0.3)):
        assert abs(drawn.double().mean().item() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / n)


def test_randint_and_randperm_are_uniform() -> None:
    mt.manual_seed(12)
    x = mt.randint(-3, 5, (4000,)).numpy()
    assert x.dtype == np.int64
    assert np.abs(np.bincount(x + 3, minlength=8) - 500).max() < 5 * np.sqrt(500)
    assert set(mt.randint(2, (50,), dtype="bool").tolist()) == {False, True}
    assert set(mt.randint(256, size=(9000,), dtype="uint8").tolist()) == set(range(256))
    assert mt.randint(high=3, size=(2,), dtype="float16").dtype is mt.float16
    assert mt.randint(-(2**63), 2**63, (5,)).dtype is mt.int64
    orders = [tuple(mt.randperm(3).tolist()) for _ in range(600)]
    assert len(set(orders)) == 6
    assert min(map(orders.count, orders)) > 60
    assert mt.randperm(0).shape == (0,)
    assert mt.randperm(5, dtype="int32").dtype is mt.int32


class Largest(mt.Generator):
    """A generator that always draws the largest number below 1."""

    @property
    def numpy(self) -> Any:
        return self

    def random(self, shape: Any, dtype: Any) -> Any:
        digits = {np.float32: 24, np.float64: 53}[dtype]
        return np.full(shape, 1 - 2.0**-digits, dtype)


@pytest.mark.parametrize("backend", [mt.get_backend(name) for name in BACKENDS], ids=str)
@pytest.mark.parametrize(
    "dtype", [mt.float16, mt.bfloat16, mt.float32, mt.float64], ids=lambda d: d.name
)
def test_uniform_numbers_stay_below_upper_bound(dtype: mt.DType, backend: Any) -> None:
    largest = Largest()
    one = unit(largest, (2,), dtype, backend)
    assert one.dtype is dtype
    assert one.max().item() < 1
    for low, high in ((0.0, 1.0), (-3.0, 5.0), (1000.0, 1001.0)):
        values = uniform(largest, (2,), low, high, dtype, backend)
        assert values.dtype is dtype
        assert low <= values.min().item() <= values.max().item() < high
    assert uniform(largest, (2,), 2.0, 2.0, dtype, backend).tolist() == [2, 2]


def test_normal_broadcasts_mean_and_std_tensors() -> None:
    mt.manual_seed(13)
    mean = mt.tensor([[0.0], [100.0]], dtype="float64", requires_grad=True)
    x = mt.normal(mean, mt.tensor([1.0, 2.0, 0.0]))
    assert x.shape == (2, 3)
    assert x.dtype is mt.float64
    assert not x.requires_grad
    assert x[:, 2].tolist() == [0, 100]
    assert mt.normal(5.0, mt.zeros(2)).tolist() == [5, 5]
    assert mt.normal(mt.zeros(20_000), 2.0).std().item() == pytest.approx(2, abs=0.1)


# --- multinomial --------------------------------------------------------------------------------


def test_multinomial_with_replacement_follows_weights() -> None:
    mt.manual_seed(14)
    weights = mt.tensor([0.0, 1.0, 3.0, 0.0, 6.0, 0.0])
    drawn = weights.multinomial(10_000, replacement=True)
    assert drawn.dtype is mt.int64
    frequencies = np.bincount(drawn.numpy(), minlength=6) / 10_000
    assert np.abs(frequencies - [0, 0.1, 0.3, 0, 0.6, 0]).max() < 0.025
    assert frequencies[[0, 3, 5]].tolist() == [0, 0, 0]
    rows = mt.multinomial(mt.tensor([[1.0, 0.0], [0.0, 1e-30]]), 3, True)
    assert rows.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert mt.ones(0, 3).multinomial(2, True).shape == (0, 2)


def test_multinomial_without_replacement_draws_distinct_categories() -> None:
    mt.manual_seed(15)
    rows = mt.ones(50, 6).multinomial(6)
    assert all(sorted(row) == list(range(6)) for row in rows.tolist())
    weights = mt.tensor([1.0, 0.0, 3.0, 6.0])
    pairs = weights.expand(6000, 4).multinomial(2).numpy()
    assert 1 not in pairs
    first = np.bincount(pairs[:, 0], minlength=4) / 6000
    assert np.abs(first - [0.1, 0, 0.3, 0.6]).max() < 0.03
    # after category 3, category 2 is three times as likely as 0
    second = pairs[pairs[:, 0] == 3, 1]
    assert abs((second == 2).mean() - 0.75) < 0.05
    assert mt.ones(0, 3).multinomial(2).shape == (0, 2)


@pytest.mark.parametrize(
    ("weights", "arguments", "message"),
    [
        ([1.0, 2.0], (3,), "3 sample.*without replacement"),
        ([1.0, 0.0, 0.0], (2,), "1 positive weight"),
        ([0.0, 0.0], (1, True), "0 positive weight"),
        ([[1.0, 1.0], [0.0, 0.0]], (1, True), "0 positive weight"),
        ([1.0, -1.5], (1,), "non-negative weights; -1.5 was given"),
        ([1.0, float("nan")], (1,), "non-negative"),
        ([1.0, float("inf")], (1,), "finite"),
        ([1.0], (0,), "positive integer; 0"),
        ([], (1,), "at least one category"),
        (1.0, (1,), r"\(\) was given"),
        ([[[1.0]]], (1,), r"\(1, 1, 1\) was given"),
        ([1, 2], (1,), "int64 was given"),
    ],
)
def test_multinomial_rejects_invalid_weights_and_counts(
    weights: Any, arguments: Any, message: str
) -> None:
    with pytest.raises(errors.TensorError, match=message):
        mt.tensor(weights).multinomial(*arguments)


# --- In-place functions -------------------------------------------------------------------------


def test_in_place_fill_respects_views_and_rejects_leaves() -> None:
    mt.manual_seed(16)
    x = mt.zeros(4, 3, backend="simple")
    assert x.T.uniform_(5, 6) is not x
    assert 5 <= x.amin().item() < x.amax().item() < 6
    assert x[:, 1].normal_(100, 0.1).amin().item() > 90
    assert x[:, 0].amax().item() < 6
    assert set(mt.zeros(99, dtype="int64").bernoulli_().tolist()) == {0, 1}
    assert mt.zeros(2, 2).bernoulli_(mt.tensor([0.0, 1.0])).tolist() == [[0, 1], [0, 1]]
    leaf = mt.zeros(3, requires_grad=True)
    state = mt.get_rng_state()
    for fill in (leaf.uniform_, leaf.normal_, leaf.bernoulli_, mt.zeros(1).expand(3).uniform_):
        with pytest.raises(errors.InPlaceError):
            fill()
    assert mt.get_rng_state() == state
    with mt.no_grad():
        assert leaf.normal_() is leaf


# --- Bounds and invalid arguments ---------------------------------------------------------------


@pytest.mark.parametrize("bounds", [(-2, 0), (-9, -3), (-(2**63), 0), (2**63 - 2, 2**63)])
def test_randint_stays_within_bounds(bounds: tuple[int, int]) -> None:
    drawn = mt.randint(*bounds, (100,)).tolist()
    assert all(number in range(*bounds) for number in drawn)
    assert min(drawn) < max(drawn)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: mt.rand(2, dtype="int64"), errors.DTypeError, "int64 was given"),
        (lambda: mt.randn(2, dtype="bool"), errors.DTypeError, "bool was given"),
        (lambda: mt.rand(-1), errors.ShapeError, "non-negative"),
        (lambda: mt.rand_like([1]), TypeError, "takes tensors"),
        (lambda: mt.rand_like(mt.ones(2).long()), errors.DTypeError, "int64 was given"),
        (lambda: mt.randint(3, 3, (2,)), errors.DomainError, "low < high"),
        (lambda: mt.randint(0, (2,)), errors.DomainError, "low < high"),
        (lambda: mt.randint(3.5, (2,)), TypeError, "high must be an integer; 3.5"),
        (lambda: mt.randint(3, 5), errors.ShapeError, "as a sequence"),
        (lambda: mt.randint(3, 5, 2), errors.ShapeError, "as a sequence"),
        (lambda: mt.randint(0, 300, (2,), dtype="uint8"), errors.DTypeError, "out of range"),
        (lambda: mt.randint(5, (2,), dtype="bool"), errors.DomainError, "randint\\(\\) of bool"),
        (lambda: mt.randint(2**63 + 1, (2,)), errors.DTypeError, "out of range"),
        (lambda: mt.randperm(-1), errors.ShapeError, "non-negative"),
        (lambda: mt.randperm(2.5), TypeError, "n must be an integer"),
        (lambda: mt.randperm(300, dtype="uint8"), errors.DTypeError, "out of range"),
        (lambda: mt.zeros(2).uniform_(0, float("inf")), errors.DomainError, "finite"),
        (lambda: mt.zeros(2).half().uniform_(0, 1e6), errors.DomainError, "of float16"),
        (lambda: mt.zeros(2).long().uniform_(), errors.DTypeError, "int64 was given"),
        (lambda: mt.zeros(2).long().normal_(), errors.DTypeError, "int64 was given"),
        (lambda: mt.zeros(2).normal_(0, -1), errors.DomainError, "^normal_.. .* not negative"),
        (lambda: mt.normal(0.0, -1.0, (2,)), errors.DomainError, "^normal.. .* not negative"),
        (lambda: mt.normal(0.0, mt.tensor([-1.0])), errors.DomainError, "not negative"),
        (lambda: mt.normal(0.0, 1.0), TypeError, "two numbers"),
        (lambda: mt.normal(mt.zeros(2), 1.0, (2,)), TypeError, "either tensors"),
        (lambda: mt.normal(mt.zeros(2).long(), 1.0), errors.DTypeError, "int64 was given"),
        (lambda: mt.normal(mt.zeros(2), mt.ones(3)), errors.IndexingError, "broadcast"),
        (lambda: mt.normal("a", 1.0, (2,)), TypeError, "mean must be a number; 'a'"),
        (lambda: mt.tensor([0.5, 1.5]).bernoulli(), errors.DomainError, "^bernoulli.. .* 1.5 was"),
        (lambda: mt.tensor([float("nan")]).bernoulli(), errors.DomainError, "between 0 and 1"),
        (lambda: mt.ones(2).bernoulli(-0.1), errors.DomainError, "1; -0.1 was given"),
        (lambda: mt.ones(2).long().bernoulli(), errors.DTypeError, "int64 was given"),
        (lambda: mt.ones(2).bernoulli_("a"), TypeError, "p must be a number; 'a'"),
        (lambda: mt.ones(2).normal_("a"), TypeError, "mean must be a number; 'a'"),
        (lambda: mt.ones(2).uniform_(0, "a"), TypeError, "to must be a number; 'a'"),
        (lambda: mt.ones(2).multinomial("a"), TypeError, "num_samples must be an integer; 'a'"),
        (lambda: mt.ones(2).multinomial(1.5), TypeError, "num_samples must be an integer; 1.5"),
        (lambda: mt.ones(2).bernoulli("a"), TypeError, "p must be a number; 'a'"),
    ],
)
def test_random_function_rejects_invalid_arguments(
    call: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_fork_rng_restores_the_sequence() -> None:
    mt.manual_seed(3)
    expected = mt.rand(3).tolist()
    mt.manual_seed(3)
    with fork_rng():
        mt.rand(5)
    assert mt.rand(3).tolist() == expected
    with fork_rng(enabled=False):
        mt.manual_seed(3)
    assert mt.rand(3).tolist() == expected


def test_seed_from_system_starts_a_reproducible_sequence() -> None:
    first, second = seed(), seed()
    assert first != second == mt.initial_seed()
    drawn = mt.rand(3).tolist()
    mt.manual_seed(second)
    assert mt.rand(3).tolist() == drawn
