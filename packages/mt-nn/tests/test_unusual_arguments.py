"""Edge cases of arguments, found by random programs: results as in torch, gradients, errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn.functional as ours
import mt_tensor as mt
from mt_tensor.errors import DTypeError, EquationError, ShapeError

NAN = float("nan")

CASES: dict[str, Callable[[Any, Any], Any]] = {
    "unsigned targets wrap around in cosine_embedding_loss": lambda m, f: f.cosine_embedding_loss(
        m.ones(3, 2), m.ones(3, 2), m.tensor([1, 255, 7], dtype=m.uint8), margin=-0.5
    ),
    "norms of integer vectors are floats": lambda m, f: f.cosine_embedding_loss(
        m.ones(2, dtype=m.float16), m.tensor([3, 4]), m.tensor(1)
    ),
    "unsigned targets wrap around in margin_ranking_loss": lambda m, f: f.margin_ranking_loss(
        m.tensor([1.5, 0.5]), m.tensor([0.0, 2.0]), m.tensor([1, 255], dtype=m.uint8)
    ),
    "unpooling to size 0": lambda m, f: f.max_unpool1d(
        m.zeros(2, 5, 2), m.zeros(2, 5, 2, dtype=m.int64), 2, padding=2
    ),
    "ctc_loss with 2-d lengths": lambda m, f: f.ctc_loss(
        m.zeros(3, 2, 4), m.tensor([[1, 2], [3, 1]]), m.tensor([[3, 3]]), m.tensor([[2], [1]])
    ),
    "trapezoid with x of fewer dimensions and dim=0": lambda m, f: m.trapezoid(
        m.arange(12.0).reshape(1, 3, 4), m.arange(3.0).reshape(3, 1), dim=0
    ),
    "cross_entropy with a total weight of 0": lambda m, f: f.cross_entropy(
        m.zeros(1, 3), m.tensor([0]), m.tensor([0.0, 0.0, 1.0]), label_smoothing=0.3
    ),
    "correction of -2**63": lambda m, f: m.arange(3.0).var(correction=-(2**63)),
    "gradient of hardtanh with a nan bound": lambda m, f: _gradient(
        m, lambda x: f.hardtanh(x, NAN, 2.0), [0.5, 2.5, NAN]
    ),
    "gradient of relu6 at nan": lambda m, f: _gradient(m, f.relu6, [0.5, -1.0, 7.0, NAN]),
}


def _gradient(m: Any, function: Callable[[Any], Any], values: list[float]) -> Any:
    """Return the gradient of the sum of the results."""
    x = m.tensor(values, requires_grad=True)
    function(x).sum().backward()
    return x.grad


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_edge_case_matches_torch(case: Callable[[Any, Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    found, expected = case(mt, ours), case(torch, torch.nn.functional)
    assert found.dtype.name == str(expected.dtype).removeprefix("torch.")
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6, atol=1e-7)


def test_scale_grad_by_freq_does_not_scale_gradient_of_embedding_output() -> None:
    weight = mt.ones(2, 3, requires_grad=True)
    rows = ours.embedding(mt.tensor([1, 1, 0]), weight, padding_idx=0, scale_grad_by_freq=True)
    by_rows, by_weight = mt.autograd.grad(rows, (rows, weight), mt.ones(3, 3))
    np.testing.assert_array_equal(by_rows.numpy(), np.ones((3, 3)))
    np.testing.assert_array_equal(by_weight.numpy(), [[0, 0, 0], [1, 1, 1]])


@pytest.mark.parametrize("label", [-1, 52])
def test_einsum_raises_for_label_out_of_range(label: int) -> None:
    with pytest.raises(EquationError, match=f"from 0 to 51; {label} was given"):
        mt.einsum(mt.ones(2), [label], mt.ones(2), [0])


@pytest.mark.parametrize("backend", ["numpy", "fast"])
def test_convolution_with_result_beyond_address_space_raises(backend: str) -> None:
    pytest.importorskip("mt_fast")
    with mt.use_backend(backend):
        x, kernels = mt.zeros(1, 2, 3), mt.zeros(2, 2, 2)
        for call in (
            lambda: ours.conv1d(x, kernels, padding=2**62),
            lambda: ours.conv1d(x, kernels, dilation=2**63 - 1, padding="same"),
            lambda: ours.unfold(mt.zeros(1, 2, 3, 3), 1, padding=2**31),
            lambda: ours.conv_transpose1d(x, kernels, stride=2**61),
        ):
            with pytest.raises(ShapeError, match="more elements than this machine can address"):
                call()


def test_randint_raises_for_values_out_of_range_of_float16() -> None:
    with pytest.raises(DTypeError, match="65519 is out of range for float16"):
        mt.randint(0, 65520, (2,), dtype=mt.float16)
    assert mt.randint(65504, 65505, (1,), dtype=mt.float16).item() == 65504
