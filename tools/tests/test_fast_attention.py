"""The attention kernel: blocks of queries, strided heads, masks, and unused keys."""

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_fast.fused.attention import ATTENTION, BLOCK
from mt_nn.conformance.kernels import SAMPLES  # noqa: F401 - importing defines the operation
from mt_tensor.conformance.kernels import assert_kernel_agrees
from mt_tensor.extending import by_kernel

LONG = 2 * BLOCK + 9


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def agrees(*arguments: Any) -> None:
    """Compare the kernel with the composition, in both dtypes."""
    for dtype in ("float32", "float64"):
        given = [x.astype(dtype) if isinstance(x, np.ndarray) else x for x in arguments]
        assert_kernel_agrees(mt.get_backend("fast"), "attention", *given, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("batch", "n", "m"),
    [((2, 3), LONG, LONG), ((), LONG, BLOCK), ((1,), BLOCK - 3, LONG), ((20,), BLOCK + 1, 5)],
)
def test_kernel_matches_composition_for_blocks_of_queries(
    batch: tuple[int, ...], n: int, m: int, causal: bool
) -> None:
    given = random(*batch, n, 5), random(*batch, m, 5), random(*batch, m, 19)
    agrees(*given, None, causal, 0.4)


@pytest.mark.parametrize(
    "shape",
    [(), (1,), (LONG,), (1, LONG), (7, 1), (7, LONG), (3, 1, LONG), (2, 1, 7, LONG), (2, 3, 1, 1)],
)
def test_kernel_matches_composition_for_masks_of_any_broadcastable_shape(
    shape: tuple[int, ...],
) -> None:
    given = random(2, 3, 7, 4), random(2, 3, LONG, 4), random(2, 3, LONG, 4), random(*shape)
    for causal in (False, True):
        agrees(*given, causal, 1.0)


def test_kernel_rejects_masks_with_more_dimensions_than_queries() -> None:
    q, k, v = (mt.tensor(random(7, 4), backend="fast") for _ in range(3))
    for mask in (random(2, 7, 7), random(1, 1, 7)):
        assert not ATTENTION.fits(q, k, v, mt.tensor(mask, backend="fast"), False, 1.0)


def heads(features: mt.Tensor, count: int) -> list[mt.Tensor]:
    """Split features of shape (steps, batch, 3 * features) as layers do."""
    steps, batch, _ = features.shape
    parts = (part.view(steps, batch, count, -1) for part in features.chunk(3, -1))
    return [part.permute(1, 2, 0, 3) for part in parts]


def test_heads_are_read_and_written_without_copies() -> None:
    features = mt.tensor(random(LONG, 2, 24), backend="fast", requires_grad=True)
    q, k, v = heads(features, 4)
    means = by_kernel("attention", ATTENTION, q, k, v, None, True, 0.5)
    assert means.permute(2, 0, 1, 3).is_contiguous()
    copies = [x.contiguous() for x in (q, k, v)]
    other = by_kernel("attention", ATTENTION, *copies, None, True, 0.5)
    assert other.is_contiguous()
    assert mt.equal(means, other)
    weights = mt.tensor(random(*means.shape, seed=1), backend="fast")
    found = mt.autograd.grad((means * weights).sum(), features, retain_graph=True)
    wanted = mt.autograd.grad((other * weights).sum(), features)
    assert np.array_equal(np.asarray(found[0]), np.asarray(wanted[0]))


def test_inputs_with_negative_strides_give_the_same_result() -> None:
    q, k, v = (mt.tensor(random(2, 9, 4), backend="fast") for _ in range(3))
    turned = [x.flip(-1).contiguous().flip(-1) for x in (q, k, v)]
    wanted = by_kernel("attention", ATTENTION, q, k, v, None, False, 1.0)
    found = by_kernel("attention", ATTENTION, *turned, None, False, 1.0)
    assert np.array_equal(found.numpy(), wanted.numpy())


def test_causal_attention_ignores_nan_in_later_keys_and_values() -> None:
    """Keys after all queries of a block are skipped, not multiplied by zero."""
    q, k, v = (random(1, LONG, 4) for _ in range(3))
    k[:, BLOCK:], v[:, BLOCK:] = np.inf, np.nan
    means = by_kernel(
        "attention", ATTENTION, *(mt.tensor(x, backend="fast") for x in (q, k, v)), None, True, 1.0
    )
    assert np.isfinite(means.numpy()[:, :BLOCK]).all()
    assert np.isnan(means.numpy()[:, BLOCK:]).all()
