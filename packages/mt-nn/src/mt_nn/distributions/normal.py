"""The normal distribution, of numbers and vectors, and that of numbers with a normal logarithm."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import mt_tensor as mt
from mt_nn.distributions.constraints import (
    Constraint,
    lower_cholesky,
    positive,
    positive_definite,
    real,
    vectors,
)
from mt_nn.distributions.distribution import HALF_LOG_2_PI, Distribution, Formulas
from mt_nn.errors import SettingError
from mt_tensor import Tensor, linalg
from mt_tensor.extending import Shape


def _draw(d: Any, shape: Shape) -> Any:
    scale = d.scale.expand(shape)
    return d.loc + scale * mt.randn_like(scale)


def _log_density(d: Any, x: Tensor) -> Any:
    return -0.5 * ((x - d.loc) / d.scale).square() - d.scale.log() - HALF_LOG_2_PI


def _quantile(d: Any, p: Tensor) -> Any:
    return d.loc + d.scale * (math.sqrt(2.0) * (2.0 * p - 1.0).erfinv())


class Normal(Distribution):
    """The normal (Gaussian) distribution.

    The density is `exp(-((x - loc) / scale)**2 / 2) / (scale sqrt(2 pi))`.

    >>> from mt_tensor import tensor
    >>> Normal(0.0, 2.0).log_prob(tensor([0.0, 2.0]))
    tensor([-1.6121, -2.1121])

    Args:
        loc: the means, a tensor or a number.
        scale: the standard deviations, a tensor or a number; both are broadcast.
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        InputError: a mean is nan, or a standard deviation is not positive.
    """

    loc: Tensor
    scale: Tensor
    arg_constraints: ClassVar = {"loc": real, "scale": positive}
    support = real
    has_rsample = True
    _formulas = Formulas(
        sample=_draw,
        mean=lambda d: d.loc,
        mode=lambda d: d.loc,
        variance=lambda d: d.scale.square(),
        stddev=lambda d: d.scale,
        log_prob=_log_density,
        entropy=lambda d: d.scale.log() + (0.5 + HALF_LOG_2_PI),
        cdf=lambda d, x: ((x - d.loc) / d.scale).ndtr(),
        icdf=_quantile,
    )

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, loc=loc, scale=scale)


class LogNormal(Distribution):
    """The distribution of `exp(x)` for a normal x.

    The density is that of the normal distribution at `log(x)`, divided by x.

    >>> LogNormal(0.0, 1.0).mean.log()
    tensor(0.5000)

    Args:
        loc: the means of the logarithms, a tensor or a number.
        scale: the standard deviations of the logarithms.
        validate_args: whether to check parameters and values.

    Raises:
        InputError: a mean is nan, or a standard deviation is not positive.
    """

    loc: Tensor
    scale: Tensor
    arg_constraints: ClassVar = {"loc": real, "scale": positive}
    support = positive
    has_rsample = True
    _formulas = Formulas(
        sample=lambda d, shape: _draw(d, shape).exp(),
        mean=lambda d: (d.loc + 0.5 * d.scale.square()).exp(),
        mode=lambda d: (d.loc - d.scale.square()).exp(),
        variance=lambda d: d.scale.square().expm1() * (2.0 * d.loc + d.scale.square()).exp(),
        log_prob=lambda d, x: _log_density(d, x.log()) - x.log(),
        entropy=lambda d: d.loc + d.scale.log() + (0.5 + HALF_LOG_2_PI),
        cdf=lambda d, x: ((x.log() - d.loc) / d.scale).ndtr(),
        icdf=lambda d, p: _quantile(d, p).exp(),
    )

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, loc=loc, scale=scale)


# --- Vectors --------------------------------------------------------------------------------------


def inverse_factor(d: Any) -> Any:
    """Return the inverse of `scale_tril`, which maps deviations to standard normal numbers."""
    return linalg.solve_triangular(d.scale_tril, _identity(d.scale_tril), upper=False)


def half_log_det(d: Any) -> Any:
    """Return half the logarithm of the determinant of the covariance matrix."""
    return d.scale_tril.diagonal(0, -2, -1).log().sum(-1)


def _identity(x: Tensor) -> Tensor:
    return mt.eye(x.shape[-1], dtype=x.dtype, backend=x.backend)


def _apply(matrices: Tensor, x: Tensor) -> Tensor:
    return (matrices @ x.unsqueeze(-1)).squeeze(-1)


def _draw_vectors(d: Any, shape: Shape) -> Any:
    loc = d.loc.expand(shape)
    return loc + _apply(d.scale_tril, mt.randn_like(loc))


def _log_density_of_vectors(d: Any, x: Tensor) -> Any:
    distance = _apply(inverse_factor(d), x - d.loc).square().sum(-1)
    return -0.5 * distance - half_log_det(d) - d.event_shape[0] * HALF_LOG_2_PI


class MultivariateNormal(Distribution):
    """The normal distribution of vectors.

    The density is `exp(-(x - loc)^T C^-1 (x - loc) / 2) / sqrt(det(2 pi C))` for the covariance
    matrix C.

    >>> from mt_tensor import eye, zeros
    >>> MultivariateNormal(zeros(2), 4.0 * eye(2)).variance
    tensor([4., 4.])

    Args:
        loc: the means, shape (*batch_shape, n).
        covariance_matrix: the covariance matrices, shape (*batch_shape, n, n).
        precision_matrix: their inverses instead.
        scale_tril: their lower triangular Cholesky factors L with C = L L^T instead.
        validate_args: whether to check parameters and values.

    Raises:
        SettingError: none or several of the matrices are given.
        InputError: a mean is nan, a matrix is not positive definite, or the sizes do not match.
    """

    loc: Tensor
    scale_tril: Tensor
    arg_constraints: ClassVar = {
        "loc": vectors(real),
        "covariance_matrix": positive_definite,
        "precision_matrix": positive_definite,
        "scale_tril": lower_cholesky,
    }
    support: Constraint = vectors(real)
    has_rsample = True
    _formulas = Formulas(
        sample=_draw_vectors,
        mean=lambda d: d.loc,
        mode=lambda d: d.loc,
        variance=lambda d: d.scale_tril.square().sum(-1),
        log_prob=_log_density_of_vectors,
        entropy=lambda d: half_log_det(d) + d.event_shape[0] * (0.5 + HALF_LOG_2_PI),
    )

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: each for name, each in matrices.items() if each is not None}
        if len(given) != 1:
            raise SettingError(f"MultivariateNormal takes one of {', '.join(matrices)}.")
        super().__init__(validate_args, loc=loc, **given)
        if covariance_matrix is not None:
            self.scale_tril = linalg.cholesky(self.__dict__.pop("covariance_matrix"))
        elif precision_matrix is not None:  # P = U U^T with an upper triangular U = L^-T
            flipped = linalg.cholesky(self.__dict__.pop("precision_matrix").flip(-2, -1))
            inverse = flipped.flip(-2, -1).mT
            self.scale_tril = linalg.solve_triangular(inverse, _identity(inverse), upper=False)

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix of each distribution."""
        return self.scale_tril @ self.scale_tril.mT

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of each covariance matrix."""
        inverse: Tensor = inverse_factor(self)
        return inverse.mT @ inverse
