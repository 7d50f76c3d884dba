"""Series coefficients of special functions; values alone do not show errors in small terms."""

from collections.abc import Callable
from typing import Any

import mpmath
import pytest

from mt_operators.functions import special


@pytest.mark.parametrize(
    ("series", "orders", "coefficient"),
    [
        ("STIRLING", range(8, 0, -1), lambda k: mpmath.bernoulli(2 * k) / (2 * k * (2 * k - 1))),
        ("DIGAMMA", range(8, 0, -1), lambda k: mpmath.bernoulli(2 * k) / (2 * k)),
        ("TRIGAMMA", range(8, 0, -1), lambda k: mpmath.bernoulli(2 * k)),
        ("ZETA_SERIES", range(26, 1, -1), lambda k: (mpmath.zeta(k) - 1) / k),
        (
            "SINC_SLOPE",
            range(9, 0, -1),
            lambda k: (-1) ** k * 2 * k / mpmath.factorial(2 * k + 1),
        ),
    ],
)
def test_series_coefficients_match_mpmath(
    series: str, orders: range, coefficient: Callable[[int], Any]
) -> None:
    with mpmath.workdps(40):  # zeta(k) is close to 1
        expected = [float(coefficient(k)) for k in orders]
    assert list(getattr(special, series)) == pytest.approx(expected, rel=4e-16, abs=0)
