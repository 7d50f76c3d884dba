"""Weight normalization and spectral normalization."""

from __future__ import annotations

from typing import Any, TypeVar

from mt_nn import functional
from mt_nn.core.module import Module
from mt_nn.core.settings import integer
from mt_nn.layers.convolution import TransposedConvolution
from mt_nn.utils.parametrize import parameter_of, register_parametrization
from mt_tensor import Tensor, no_grad, randn

__all__ = ["spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Reparametrize a weight by its norms and directions, which are trained separately.

    The weight is `g * v / |v|` (Salimans and Kingma 2016, "Weight Normalization"), computed on each
    access. In the state dictionary, `parametrizations.weight.original0` is `g` and `original1` is
    `v`.

    Args:
        module: the module with the weight, which is changed and returned.
        name: the name of the weight.
        dim: the dimension along which each slice has its own norm; None or -1 for a single norm.

    Raises:
        SettingError: the module has no such parameter.
    """
    return register_parametrization(module, name, WeightNorm(dim))


class WeightNorm(Module):
    """Compute a weight from its norms and directions; see `weight_norm`."""

    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, norm: Tensor, direction: Tensor) -> Tensor:
        """Return the weight with a norm and a direction of any length."""
        return direction * (norm / self._norm(direction))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return the norm of a weight, and the weight itself as its direction."""
        return self._norm(weight), weight

    def _norm(self, weight: Tensor) -> Tensor:
        if self.dim is None or self.dim == -1:
            return weight.square().sum().sqrt()
        others = [dim for dim in range(weight.ndim) if dim != self.dim % weight.ndim]
        sums = weight.square().sum(others, keepdim=True) if others else weight.square()
        return sums.sqrt()


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight, as a matrix, by its largest singular value.

    The singular value is estimated by power iteration, which continues with each access in training
    mode (Miyato et al. 2018, "Spectral Normalization for Generative Adversarial Networks").

    Args:
        module: the module with the weight, which is changed and returned.
        name: the name of the weight.
        n_power_iterations: the number of iterations per access.
        eps: the smallest norm to divide by.
        dim: the dimension of the weight that becomes the rows; None for that of the outputs.

    Raises:
        SettingError: the module has no such parameter, or a setting is invalid.
    """
    weight = parameter_of(module, name)
    rows = SpectralRows(module, weight.value, dim, eps)
    parametrization = _SpectralNorm(weight.value, n_power_iterations, rows)
    return register_parametrization(module, name, parametrization)


class SpectralRows:
    """View a weight as a matrix, and estimate the vectors of its largest singular value.

    Args:
        module: the module of the weight.
        weight: the weight.
        dim: the dimension that becomes the rows; None for that of the outputs.
        eps: the smallest norm to divide by.
    """

    def __init__(self, module: Module, weight: Tensor, dim: int | None, eps: float) -> None:
        if dim is None:
            dim = 1 if isinstance(module, TransposedConvolution) else 0
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps

    def matrix(self, weight: Tensor) -> Tensor:
        """Return a weight as a matrix."""
        rows = weight.movedim(self.dim, 0)
        return rows.reshape(rows.shape[0], -1)

    @no_grad()
    def initial(self, matrix: Tensor) -> list[Tensor]:
        """Return two random vectors of length 1, of the sizes of the matrix."""
        settings: Any = {"dtype": matrix.dtype, "backend": matrix.backend}
        return [
            functional.normalize(randn(size, **settings), dim=0, eps=self.eps)
            for size in matrix.shape
        ]

    @no_grad()
    def next(self, matrix: Tensor, vector: Tensor) -> Tensor:
        """Return the product of a matrix and a vector, with length 1."""
        return functional.normalize(matrix @ vector, dim=0, eps=self.eps)

    def divided(self, weight: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """Return a weight divided by its singular value, given estimates of both vectors."""
        return weight / (u * (self.matrix(weight) @ v)).sum()


class _SpectralNorm(Module):
    """Divide a weight by its largest singular value; see `spectral_norm`.

    The buffers `_u` and `_v` are estimates of the singular vectors.
    """

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int, rows: SpectralRows) -> None:
        super().__init__()
        self.rows = rows
        self.n_power_iterations = integer("n_power_iterations", n_power_iterations, 1)
        if weight.ndim > 1:
            matrix = rows.matrix(weight.detach())
            for name, vector in zip(("_u", "_v"), rows.initial(matrix), strict=True):
                self.register_buffer(name, vector)
            self._iterate(matrix, 15)

    def _iterate(self, matrix: Tensor, times: int) -> None:
        for _ in range(times):
            self._u = self.rows.next(matrix, self._v)
            self._v = self.rows.next(matrix.T, self._u)

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight divided by its largest singular value."""
        if weight.ndim == 1:
            return functional.normalize(weight, dim=0, eps=self.rows.eps)
        if self.training:
            self._iterate(self.rows.matrix(weight.detach()), self.n_power_iterations)
        return self.rows.divided(weight, self._u, self._v)

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the weight itself, which is assumed to have a spectral norm of 1."""
        return value
