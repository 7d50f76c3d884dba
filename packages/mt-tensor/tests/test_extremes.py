"""Values and gradients at overflow, underflow, infinities, nan and ties."""

import math

import numpy as np
import pytest

import mt_tensor as mt

SCALES = {"float32": (1e-35, 1e-30, 1.0, 1e30), "float64": (1e-200, 1.0, 1e200)}


@pytest.mark.parametrize("backend", ["simple", "numpy"])
@pytest.mark.parametrize("dtype", SCALES)
def test_std_scales_without_overflow_or_underflow(dtype: str, backend: str) -> None:
    """The variance of the scaled numbers may overflow, or underflow to 0."""
    numbers = np.array([[0.0, 1.0, 3.0], [2.0, 2.5, -1.0]])
    for scale in SCALES[dtype]:
        for dim in (None, 0, 1):
            x = mt.tensor(numbers * scale, dtype=dtype, backend=backend, requires_grad=True)
            y = mt.tensor(numbers, dtype=dtype, backend=backend, requires_grad=True)
            for result, expected in (
                (x.std(dim), y.std(dim)),
                (mt.std_mean(x, dim)[0], y.std(dim)),
            ):
                np.testing.assert_allclose(
                    result.detach().numpy() / scale, expected.detach().numpy(), rtol=2e-6
                )
            x.std(dim).sum().backward()
            y.std(dim).sum().backward()
            np.testing.assert_allclose(x.grad, y.grad, rtol=2e-6, atol=1e-6)


def test_std_and_gradient_are_0_for_equal_elements_and_nan_for_inf() -> None:
    for numbers, expected in (
        ([2.0, 2.0], 0.0),
        ([math.inf, 1.0], math.nan),
        ([math.nan, 1.0], math.nan),
    ):
        x = mt.tensor(numbers, requires_grad=True)
        x.std().backward()
        np.testing.assert_equal(x.std().item(), expected)
        np.testing.assert_array_equal(x.grad, [expected, expected])


def test_norm_of_order_minus_1_of_infinities_is_inf() -> None:
    assert mt.tensor([math.inf, -math.inf]).norm(-1).item() == math.inf


@pytest.mark.parametrize("create_graph", [False, True])
def test_logit_gradient_outside_domain_is_nan(create_graph: bool) -> None:
    x = mt.tensor([-0.5, 0.0, 0.25, 1.0, 1.5, math.nan], requires_grad=True)
    x.logit().sum().backward(create_graph=create_graph)
    expected = [math.nan, math.inf, 16 / 3, math.inf, math.nan, math.nan]
    np.testing.assert_allclose(np.asarray(x.grad.detach()), expected, rtol=1e-6)


@pytest.mark.parametrize("mode", ["trunc", "floor"])
def test_gradient_of_rounded_division_is_0_everywhere(mode: str) -> None:
    x = mt.tensor([1.0, 0.0, math.inf, -3.0], requires_grad=True)
    y = mt.tensor([0.0, 0.0, 2.0, 1e-45], requires_grad=True)
    mt.div(x, y, rounding_mode=mode).sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [0.0] * 4


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "median"])
def test_gradient_counts_equal_elements_in_float32(name: str, dtype: str) -> None:
    x = mt.ones(70_000, dtype=getattr(mt, dtype), requires_grad=True)
    getattr(x, name)().backward()
    assert x.grad is not None
    assert x.grad[0].item() == pytest.approx(1 / 70_000, rel=2**-7)
