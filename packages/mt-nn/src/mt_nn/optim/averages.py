"""Running averages, which forget, and steps that they scale; each in one pass over memory."""

from __future__ import annotations

from mt_tensor import Tensor, fuse


def follow(average: Tensor, value: Tensor, beta: float) -> Tensor:
    """Move an average in place: it keeps the share `beta` of itself."""
    return average.lerp_(value, 1 - beta)


def follow_square(average: Tensor, value: Tensor, beta: float) -> Tensor:
    """Move an average of squares in place."""
    return average.copy_(_with_square(average, value, beta))


@fuse
def _with_square(average: Tensor, value: Tensor, beta: float) -> Tensor:
    return average * beta + value.square() * (1.0 - beta)


@fuse
def scaled(direction: Tensor, square: Tensor, factor: float, eps: float) -> Tensor:
    """Return `direction / (sqrt(factor * square) + eps)`."""
    return direction / ((square * factor).sqrt() + eps)
