"""The multivariate normal distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import mt_tensor as mt
from mt_nn.distributions import constraints
from mt_nn.distributions.distribution import HALF_LOG_2_PI, Distribution
from mt_nn.errors import SettingError
from mt_tensor import Tensor, linalg
from mt_tensor.extending import Shape


def inverse_factor(d: Any) -> Any:
    """Return the inverse of `scale_tril`, which maps deviations to standard normal numbers."""
    return linalg.inv(d.scale_tril.tril())


def half_log_det(d: Any) -> Any:
    """Return half the logarithm of the determinant of the covariance matrix."""
    return d.scale_tril.diagonal(0, -2, -1).log().sum(-1)


def _apply(matrices: Tensor, x: Tensor) -> Tensor:
    return (matrices @ x.unsqueeze(-1)).squeeze(-1)


def _draw_vectors(d: Any, shape: Shape) -> Any:
    loc = d.loc.expand(shape)
    return loc + _apply(d.scale_tril, mt.randn_like(loc))


def _log_density_of_vectors(d: Any, x: Tensor) -> Any:
    distance = _apply(inverse_factor(d), x - d.loc).square().sum(-1)
    return -0.5 * distance - half_log_det(d) - d.event_shape[0] * HALF_LOG_2_PI


class MultivariateNormal(Distribution):
    """The multivariate normal distribution.

    The density is `exp(-(x - loc).T @ inv(C) @ (x - loc) / 2) / sqrt(det(2 * pi * C))` for the
    covariance matrix C.

    Args:
        loc: the means, shape (*batch_shape, n).
        covariance_matrix: the covariance matrices, shape (*batch_shape, n, n).
        precision_matrix: their inverses instead.
        scale_tril: their lower triangular Cholesky factors `L` with `C = L @ L.T` instead.
        validate_args: whether to check parameters and values.

    Raises:
        SettingError: none or several of the matrices are given.
        InputError: a mean is nan, a matrix is not positive definite, or the sizes do not match.
    """

    loc: Tensor
    scale_tril: Tensor
    arg_constraints: ClassVar = {
        "loc": constraints.vectors(constraints.real),
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.vectors(constraints.real)
    has_rsample = True
    formulas: ClassVar = {
        "sample": _draw_vectors,
        "mean": lambda d: d.loc,
        "mode": lambda d: d.loc,
        "variance": lambda d: d.scale_tril.square().sum(-1),
        "log_prob": _log_density_of_vectors,
        "entropy": lambda d: half_log_det(d) + d.event_shape[0] * (0.5 + HALF_LOG_2_PI),
    }

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
            self.scale_tril = linalg.inv(flipped.flip(-2, -1).mT).tril()

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix of each distribution."""
        return self.scale_tril @ self.scale_tril.mT

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of each covariance matrix."""
        inverse: Tensor = inverse_factor(self)
        return inverse.mT @ inverse
