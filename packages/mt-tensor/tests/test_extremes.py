"""Values and gradients where squares leave the range, and where there is no value."""

import math

import numpy as np
import pytest

import mt_tensor as mt

SCALES = {"float32": (1e-35, 1e-30, 1.0, 1e30), "float64": (1e-200, 1.0, 1e200)}


@pytest.mark.parametrize("backend", ["simple", "numpy"])
@pytest.mark.parametrize("dtype", SCALES)
def test_a_standard_deviation_scales_with_its_elements(dtype: str, backend: str) -> None:
    """Also where the variance would overflow, or underflow to 0."""
    numbers = np.array([[0.0, 1.0, 3.0], [2.0, 2.5, -1.0]])
    for scale in SCALES[dtype]:
        for dim in (None, 0, 1):
            x = mt.tensor(numbers * scale, dtype=dtype, backend=backend, requires_grad=True)
            y = mt.tensor(numbers, dtype=dtype, backend=backend, requires_grad=True)
            for found, wanted in ((x.std(dim), y.std(dim)), (mt.std_mean(x, dim)[0], y.std(dim))):
                np.testing.assert_allclose(
                    found.detach().numpy() / scale, wanted.detach().numpy(), rtol=2e-6
                )
            x.std(dim).sum().backward()
            y.std(dim).sum().backward()
            np.testing.assert_allclose(x.grad, y.grad, rtol=2e-6, atol=1e-6)


def test_a_deviation_of_what_does_not_vary_is_0_and_of_infinity_nan() -> None:
    for numbers, wanted in (
        ([2.0, 2.0], 0.0),
        ([math.inf, 1.0], math.nan),
        ([math.nan, 1.0], math.nan),
    ):
        x = mt.tensor(numbers, requires_grad=True)
        x.std().backward()
        np.testing.assert_equal(x.std().item(), wanted)
        np.testing.assert_array_equal(x.grad, [wanted, wanted])


def test_a_norm_with_a_negative_exponent_of_infinities_is_infinite() -> None:
    assert mt.tensor([math.inf, -math.inf]).norm(-1).item() == math.inf


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_gradient_of_logit_outside_its_domain_is_nan(create_graph: bool) -> None:
    x = mt.tensor([-0.5, 0.0, 0.25, 1.0, 1.5, math.nan], requires_grad=True)
    x.logit().sum().backward(create_graph=create_graph)
    slopes = [math.nan, math.inf, 16 / 3, math.inf, math.nan, math.nan]
    np.testing.assert_allclose(np.asarray(x.grad.detach()), slopes, rtol=1e-6)


@pytest.mark.parametrize("mode", ["trunc", "floor"])
def test_the_gradient_of_a_rounded_quotient_is_0_everywhere(mode: str) -> None:
    x = mt.tensor([1.0, 0.0, math.inf, -3.0], requires_grad=True)
    y = mt.tensor([0.0, 0.0, 2.0, 1e-45], requires_grad=True)
    mt.div(x, y, rounding_mode=mode).sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [0.0] * 4


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "median"])
def test_equal_elements_are_counted_in_float32(name: str, dtype: str) -> None:
    x = mt.ones(70_000, dtype=getattr(mt, dtype), requires_grad=True)
    getattr(x, name)().backward()
    assert x.grad is not None
    assert x.grad[0].item() == pytest.approx(1 / 70_000, rel=2**-7)
