"""Dropout: elements set to zero at random."""

from __future__ import annotations

from mt_nn.errors import SettingError
from mt_tensor import Tensor, fused, rand, zeros_like


def check_probability(p: float) -> None:
    """Raise SettingError unless `p` can be the probability of dropout."""
    if not 0.0 <= p <= 1.0:
        raise SettingError(f"the dropout probability must be between 0 and 1; got {p}.")


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Set each element to zero with probability `p`, and scale the rest by `1 / (1 - p)`.

    Args:
        input: any shape, which is also that of the result.
        p: how likely an element is set to zero.
        training: if False, the input is returned as it is.

    Raises:
        SettingError: `p` is no probability.
    """
    check_probability(p)
    if not training or p == 0.0:
        return input
    if p == 1.0:
        return input * zeros_like(input)
    return _dropout(input, rand(*input.shape, backend=input.backend), float(p))


@fused("dropout")
def _dropout(input: Tensor, noise: Tensor, p: float) -> Tensor:
    """Leave out the elements whose noise, of float32 between 0 and 1, is below `p`."""
    return input * ((noise >= p).to(input.dtype) * (1.0 / (1.0 - p)))
