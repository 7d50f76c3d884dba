"""How exactly products of float32 are multiplied, where hardware offers more speed for less.

Tensor cores of NVIDIA multiply numbers of float32 with 10 of their 23 bits, TF32, and add up the
products in float32. A backend that has such hardware asks `are_products_exact` what it may do.
"""

from __future__ import annotations

from mt_tensor.checks import check_choice

_precision = "highest"


def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact products of float32 must be, in all threads, from now on.

    >>> import mt_tensor as mt
    >>> mt.set_float32_matmul_precision("high")
    >>> mt.get_float32_matmul_precision()
    'high'
    >>> mt.set_float32_matmul_precision("highest")

    Args:
        precision: "highest", as at first: numbers are multiplied as they are; "high" or "medium":
            they may be rounded to 10 bits before, relative errors of 2^-11. Only the backend `cuda`
            makes use of that, for matrix products and linear maps.

    Raises:
        DomainError: it is none of these.
    """
    global _precision  # noqa: PLW0603 - a setting of the process
    check_choice("precision", precision, ["highest", "high", "medium"])
    _precision = precision


def get_float32_matmul_precision() -> str:
    """Return what was set last, "highest" at first."""
    return _precision


def are_products_exact() -> bool:
    """Whether numbers of float32 must be multiplied as they are."""
    return _precision == "highest"
