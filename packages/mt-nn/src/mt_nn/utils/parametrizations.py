"""Weights with a norm of their own: weight and spectral normalization."""

from __future__ import annotations

from typing import TypeVar

from mt_nn import functional
from mt_nn.core.module import Module
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.layers.convolution import TransposedConvolution
from mt_nn.utils.parametrize import register_parametrization
from mt_tensor import Tensor, no_grad, randn

__all__ = [
    "spectral_norm",
    "weight_norm",
]

M = TypeVar("M", bound=Module)


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Train the norms of a weight's rows and their directions apart from each other.

    The weight is `g v / |v|` (Salimans and Kingma, Weight Normalization, 2016), and is computed
    each time that it is read. In the state dictionary, `parametrizations.weight.original0` is g and
    `original1` is v.

    Args:
        module: what has the weight; it is changed, and returned.
        name: the name of the weight.
        dim: along which dimension there is a norm each; None for one norm of the whole.

    Raises:
        SettingError: the module has no such parameter.
    """
    return register_parametrization(module, name, _WeightNorm(dim))


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, norm: Tensor, direction: Tensor) -> Tensor:
        """Return the weight of a norm and a direction of any length."""
        return direction * (norm / self._norm(direction))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return the norm of a weight, and the weight itself for its direction."""
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

    That is found by power iteration, a little further with each step of training (Miyato et al.,
    Spectral Normalization for Generative Adversarial Networks, 2018).

    Args:
        module: what has the weight; it is changed, and returned.
        name: the name of the weight.
        n_power_iterations: how many iterations there are each time.
        eps: keeps divisions finite.
        dim: the dimension of the weight that is the matrix's rows; None for that of the outputs.

    Raises:
        SettingError: the module has no such parameter, or an invalid setting.
    """
    weight = module._parameters.get(name)
    if weight is None:
        raise SettingError(f"{type(module).__name__} has no parameter {name!r}.")
    if dim is None:
        dim = 1 if isinstance(module, TransposedConvolution) else 0
    found = _SpectralNorm(weight.value, n_power_iterations, dim, eps)
    return register_parametrization(module, name, found)


class _SpectralNorm(Module):
    """Two buffers, `_u` and `_v`, are the singular vectors as far as they are known."""

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
        """Return the weight with a largest singular value of about 1."""
        if weight.ndim == 1:
            return functional.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        return weight / (self._u * (matrix @ self._v)).sum()

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return a weight itself, which is taken for one with a norm of 1."""
        return value
