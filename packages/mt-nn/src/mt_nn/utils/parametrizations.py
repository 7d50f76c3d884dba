"""Weight normalization and spectral normalization."""

from __future__ import annotations

from typing import TypeVar

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

    The weight is `g v / |v|` (Salimans and Kingma 2016, "Weight Normalization"), computed on each
    access. In the state dictionary, `parametrizations.weight.original0` is g and `original1` is v.

    Args:
        module: the module with the weight, which is changed and returned.
        name: the name of the weight.
        dim: the dimension along which each slice has its own norm; None for one norm of the whole.

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
    if dim is None:
        dim = 1 if isinstance(module, TransposedConvolution) else 0
    parametrization = _SpectralNorm(weight.value, n_power_iterations, dim, eps)
    return register_parametrization(module, name, parametrization)


class _SpectralNorm(Module):
    """The buffers `_u` and `_v` are estimates of the singular vectors."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        self.n_power_iterations = integer("n_power_iterations", n_power_iterations, 1)
        if weight.ndim > 1:
            with no_grad():
                matrix = self._matrix(weight)
                rows, columns = (
                    functional.normalize(
                        randn(size, dtype=weight.dtype, backend=weight.backend), dim=0, eps=eps
                    )
                    for size in matrix.shape
                )
                self.register_buffer("_u", rows)
                self.register_buffer("_v", columns)
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    @no_grad()
    def _iterate(self, matrix: Tensor, times: int) -> None:
        for _ in range(times):
            self._u = functional.normalize(matrix @ self._v, dim=0, eps=self.eps)
            self._v = functional.normalize(matrix.T @ self._u, dim=0, eps=self.eps)

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight divided by its largest singular value."""
        if weight.ndim == 1:
            return functional.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        return weight / (self._u * (matrix @ self._v)).sum()

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the weight itself, which is assumed to have a spectral norm of 1."""
        return value
