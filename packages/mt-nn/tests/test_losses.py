"""Losses: extreme inputs, ignored samples, kernels, and connectionist temporal classification."""

import itertools
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F
from mt_nn.conformance.drawing import draw
from mt_tensor.backends import backends
from mt_tensor.errors import IndexingError

HUGE = mt.tensor([[1e30, -1e30, 0.0], [-1e4, 1e4, 1.0]])


def leaf(values: Any, dtype: str = "float32") -> mt.Tensor:
    return mt.tensor(values, dtype=dtype, requires_grad=True)


# --- Extreme inputs and ignored samples -----------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"weight": mt.ones(3)}, {"label_smoothing": 0.1}])
def test_cross_entropy_of_large_scores_is_finite(settings: Any) -> None:
    scores = HUGE.clone().requires_grad_()
    loss = F.cross_entropy(scores, mt.tensor([0, 1]), **settings)
    loss.backward()
    assert scores.grad is not None
    assert loss.isfinite().item()
    assert scores.grad.isfinite().all()
    assert F.cross_entropy(HUGE, HUGE.softmax(1)).item() == 0


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss, F.multi_margin_loss])
def test_classes_of_uint8_are_like_those_of_int64(loss: Any) -> None:
    scores, classes = mt.tensor(draw(4, 3)), mt.tensor([2, 0, 1, 2])
    for settings in ({}, {"weight": mt.tensor([1.0, 2.0, 3.0])}):
        expected = loss(scores, classes, **settings)
        assert loss(scores, classes.byte(), **settings).item() == expected.item()
    with pytest.raises(nn.InputError, match="of int64 or uint8 as targets; int16 was given"):
        loss(scores, classes.short())


def test_bce_with_logits_is_exact_for_large_scores() -> None:
    for score, target, loss, gradient in (
        (200.0, 0.0, 200.0, 1.0),
        (-200.0, 1.0, 200.0, -1.0),
        (1e30, 0.0, 1e30, 1.0),
        (80.0, 1.0, np.exp(-80), -np.exp(-80)),
        (-80.0, 0.0, np.exp(-80), np.exp(-80)),
    ):
        x = leaf([score], "float64")
        result = F.binary_cross_entropy_with_logits(x, mt.tensor([target], dtype="float64"))
        result.backward()
        assert x.grad is not None
        assert (result.item(), x.grad.item()) == pytest.approx((loss, gradient), rel=1e-12)


def test_binary_cross_entropy_of_0_and_1_is_finite() -> None:
    x = leaf([0.0, 1.0, 0.0, 1.0])
    loss = F.binary_cross_entropy(x, mt.tensor([1.0, 0.0, 0.0, 1.0]), reduction="none")
    assert loss.tolist() == [100, 100, 0, 0]
    loss.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [-1e12, 1e12, 0, 0])


def test_losses_have_finite_gradients_at_extreme_inputs() -> None:
    for loss, inputs in (
        (lambda x: F.poisson_nll_loss(x, mt.zeros(2), full=True), [0.0, 1.0]),
        (lambda x: F.poisson_nll_loss(mt.ones(2), x, full=True), [0.0, 1.0]),
        (lambda x: F.smooth_l1_loss(x, mt.zeros(2)), [1e30, -1e30]),
        (lambda x: F.cosine_embedding_loss(x, x * 0, mt.tensor(1)), [0.0, 0.0]),
        (lambda x: F.soft_margin_loss(x, mt.tensor([1, -1])), [-1e30, 1e30]),
        (lambda x: F.gaussian_nll_loss(mt.ones(2), mt.ones(2), x), [0.0, 0.0]),
        (lambda x: F.triplet_margin_loss(x, x, x, eps=0.0), [1.0, 1.0]),
    ):
        x = leaf(inputs)
        loss(x).backward()
        assert x.grad is not None
        assert x.grad.isfinite().all()


def test_gaussian_nll_loss_clamps_small_variances_to_eps() -> None:
    variance = leaf([0.0, 1.0])
    loss = F.gaussian_nll_loss(mt.ones(2), mt.zeros(2), variance, eps=0.5, reduction="none")
    np.testing.assert_allclose(loss.detach().numpy(), [0.5 * (np.log(0.5) + 2), 0.5], rtol=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_ignores_samples_of_ignore_index(smoothing: float) -> None:
    scores = leaf([[np.nan, np.inf, 0.0], [1.0, 2.0, 3.0]])
    settings: Any = {"label_smoothing": smoothing, "reduction": "sum"}
    loss = F.cross_entropy(scores, mt.tensor([-100, 1]), **settings)
    without_ignored = F.cross_entropy(scores.detach()[1:], mt.tensor([1]), **settings)
    assert loss.item() == without_ignored.item()
    assert F.cross_entropy(scores, mt.tensor([-100, -100])).isnan().item()
    empty = mt.zeros(3, 0)
    losses = F.cross_entropy(empty, empty, reduction="none", label_smoothing=smoothing)
    assert losses.tolist() == [0.0] * 3


def test_binary_cross_entropy_passes_gradgradcheck() -> None:
    x, y = leaf([0.2, 0.7], "float64"), mt.tensor([0.0, 0.6], dtype="float64")
    assert mt.gradgradcheck(lambda x: F.binary_cross_entropy(x, y), [x])
    assert mt.gradgradcheck(lambda x: F.binary_cross_entropy_with_logits(x, y), [x])


# --- The kernel of cross-entropy ------------------------------------------------------------------


@pytest.mark.skipif("fast" not in backends(), reason="mt-fast is not installed")
def test_cross_entropy_kernel_of_fast_excludes_ignored_targets() -> None:
    with mt.use_backend("fast"):
        scores = mt.tensor(draw(4, 5)).requires_grad_()
        assert "cross_entropy" in repr(F.cross_entropy(scores, mt.tensor([0, 1, 2, 3])).grad_fn)
        with_ignored = F.cross_entropy(scores, mt.tensor([0, -100, 2, 3]))
        without_ignored = F.cross_entropy(scores[[0, 2, 3]], mt.tensor([0, 2, 3]))
        assert with_ignored.item() == pytest.approx(without_ignored.item(), rel=1e-6)
        with pytest.raises(IndexingError, match="out of range"):
            F.cross_entropy(scores, mt.tensor([0, -100, 5, 3]))


def test_loss_weights_are_buffers() -> None:
    weights = mt.tensor([1.0, 2.0])
    assert list(nn.BCEWithLogitsLoss(pos_weight=weights).state_dict()) == ["pos_weight"]
    loss = nn.CrossEntropyLoss(weights).double()
    assert loss.weight is not None
    assert loss.weight.dtype is mt.float64
    assert list(nn.CrossEntropyLoss().state_dict()) == []


# --- Connectionist temporal classification --------------------------------------------------------


def ctc_by_definition(log_probs: Any, target: list[int]) -> float:
    """Return minus the log of the total probability of all paths that collapse to the target."""
    total = 0.0
    for labels in itertools.product(range(log_probs.shape[1]), repeat=len(log_probs)):
        merged = [label for label, _ in itertools.groupby(labels)]
        if [label for label in merged if label] == target:
            total += np.exp(sum(log_probs[time, label] for time, label in enumerate(labels)))
    return -np.log(total) if total else np.inf


@pytest.mark.parametrize("target", [[], [1], [1, 2], [2, 2], [1, 2, 1], [1, 1, 1]])
def test_ctc_loss_agrees_with_the_definition(target: list[int]) -> None:
    log_probs = mt.tensor(draw(4, 3, dtype="float64")).log_softmax(1)
    loss = F.ctc_loss(
        log_probs, mt.tensor(target, dtype="int64"), [4], [len(target)], reduction="sum"
    )
    assert loss.shape == ()
    assert loss.item() == pytest.approx(ctc_by_definition(log_probs.numpy(), target), rel=1e-12)


LABELS = np.array([[1, 2, 2], [3, 1, -7], [2, -7, -7], [1, 1, 1]])
TIMES, LENGTHS = [6, 5, 0, 4], [3, 2, 1, 3]
CONCATENATED = np.concatenate([row[:n] for row, n in zip(LABELS, LENGTHS, strict=True)])


@pytest.mark.parametrize("targets", [LABELS, CONCATENATED], ids=["padded", "concatenated"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("blank", [0, 3])
def test_ctc_loss_agrees_with_torch(targets: Any, reduction: Any, blank: int) -> None:
    torch = pytest.importorskip("torch")
    targets = np.where(targets == 3, 0, targets) if blank == 3 else targets
    scores, theirs = leaf(draw(6, 4, 4), "float64"), torch.tensor(draw(6, 4, 4)).double()
    theirs.requires_grad_()
    settings = {"reduction": reduction, "blank": blank, "zero_infinity": True}
    ours = nn.CTCLoss(**settings)(scores.log_softmax(2), mt.tensor(targets), TIMES, LENGTHS)
    expected = torch.nn.CTCLoss(**settings)(
        theirs.log_softmax(2),
        torch.tensor(targets),
        torch.tensor(TIMES),
        torch.tensor(LENGTHS),
    )
    np.testing.assert_allclose(ours.detach().numpy(), expected.detach().numpy(), rtol=1e-10)
    ours.sum().backward()
    expected.sum().backward()
    assert scores.grad is not None
    np.testing.assert_allclose(scores.grad.numpy(), theirs.grad.numpy(), atol=1e-10)


@pytest.mark.parametrize("name", ["simple", "numpy", "fast"])
def test_ctc_loss_has_finite_gradients_on_every_backend(name: str) -> None:
    if name not in backends():
        pytest.skip(f"{name} is not installed")
    with mt.use_backend(name):
        scores = mt.tensor(draw(4, 2, 3)).requires_grad_()
        loss = F.ctc_loss(scores.log_softmax(2), mt.tensor([[1, 2], [2, 0]]), [4, 3], [2, 1])
        loss.backward()
        assert scores.grad is not None
        assert scores.grad.isfinite().all()
        impossible = F.ctc_loss(scores.log_softmax(2), mt.tensor([[1, 1]] * 2), [2, 4], [2, 2])
        assert impossible.item() == np.inf
        far = F.ctc_loss(mt.full((3, 1, 2), -1e30), mt.tensor([[1]]), [3], [1])
        assert far.item() == pytest.approx(3e30)


def test_ctc_loss_passes_gradcheck() -> None:
    scores = leaf(draw(3, 2, 3), "float64")
    targets = mt.tensor([[1, 2], [1, 1]])
    assert mt.gradcheck(
        lambda x: F.ctc_loss(x.log_softmax(2), targets, (3, 3), (2, 2), reduction="none"), [scores]
    )


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ((mt.zeros(3), mt.tensor([1]), [3], [1]), {}, "of shape \\(time, batch, labels\\)"),
        ((mt.zeros(3, 4), mt.tensor([1.0]), [3], [1]), {}, "and integers"),
        ((mt.zeros(3, 4), mt.tensor([1]), [4], [1]), {}, "input_lengths must be from 0 to 3"),
        ((mt.zeros(3, 4), mt.tensor([1]), [3], [-1]), {}, "target_lengths must be non-negative"),
        ((mt.zeros(3, 4), mt.tensor([1]), [3], [2]), {}, "targets must have shape \\(1, 2 or more"),
        (
            (mt.zeros(3, 4), mt.tensor([1]), [3], [2**63 - 1]),
            {},
            "targets must have shape \\(1, 92",
        ),
        ((mt.zeros(3, 2, 4), mt.tensor([1, 2]), [3, 3], [1, 2]), {}, "add up to 3, but there"),
        ((mt.zeros(3, 2, 4), mt.tensor([1, 2]), [3], [1, 2]), {}, "must be 2 integers"),
        ((mt.zeros(3, 4), mt.tensor([1]), [3], [1]), {"blank": 4}, "one of the 4 labels; got 4"),
        ((mt.zeros(3, 4), mt.tensor([4]), [3], [1]), {}, "out of range"),
    ],
)
def test_ctc_loss_with_invalid_arguments_raises(
    arguments: Any, settings: Any, message: str
) -> None:
    with pytest.raises((nn.NetworkError, IndexingError), match=message):
        F.ctc_loss(*arguments, **settings)


@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("name", ["numpy", "simple"])
def test_infinite_ctc_loss_has_nan_gradients(name: str, zero_infinity: bool) -> None:
    """As in torch, gradients are nan up to the sample's length, unless `zero_infinity` is set."""
    with mt.use_backend(name):
        scores = mt.tensor(np.zeros((3, 2, 4)), requires_grad=True)
        lengths = ([2, 3], [2, 2])
        labels = mt.tensor([[1, 1], [1, 2]])
        loss = F.ctc_loss(
            scores.log_softmax(2), labels, *lengths, reduction="none", zero_infinity=zero_infinity
        )
        loss.sum().backward()
    assert loss.tolist()[0] == (0.0 if zero_infinity else np.inf)
    is_nan = np.isnan(scores.grad.numpy())
    assert (is_nan[:2, 0] != zero_infinity).all()
    assert not is_nan[2, 0].any()
    assert not is_nan[:, 1].any()
    assert scores.grad.numpy()[:, 1].all()


def test_binary_cross_entropy_with_integer_targets_raises() -> None:
    with pytest.raises(nn.InputError, match="floating-point tensors; int64 was given"):
        nn.functional.binary_cross_entropy(mt.tensor([0.5, 0.5]), mt.tensor([0, 1]))
