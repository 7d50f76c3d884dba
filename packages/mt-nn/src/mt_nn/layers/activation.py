"""Activations: functions between layers, most of them of each element by itself.

Their formulas are those of the functions of their names, in `mt_nn.functional`. All return a tensor
of the input's shape unless something else is said. With `inplace=True` the result is stored in the
input.
"""

from __future__ import annotations

import warnings
from typing import Any

from mt_nn import functional
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.functional.activation import check_slopes
from mt_nn.layers.function import FunctionLayer
from mt_nn.utils.settings import number
from mt_tensor import Tensor, full
from mt_tensor.extending import require_tensors


class _Activation(FunctionLayer):
    """Base of activations: they show their settings, which are their attributes."""

    def extra_repr(self) -> str:
        """Show the settings; `inplace` only if it is on."""
        shown = {
            name: value
            for name, value in vars(self).items()
            if not name.startswith("_") and name != "training" and (name != "inplace" or value)
        }
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())


class _InPlace(_Activation):
    """An activation of which `inplace` is the only setting."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


# --- Without other settings ---------------------------------------------------------------------


class Hardsigmoid(_InPlace):
    """`input / 6 + 1 / 2` between 0 and 1."""

    function = staticmethod(functional.hardsigmoid)


class Hardswish(_InPlace):
    """`input hardsigmoid(input)`."""

    function = staticmethod(functional.hardswish)


class Mish(_InPlace):
    """`input tanh(log(1 + exp(input)))`."""

    function = staticmethod(functional.mish)


class ReLU6(_InPlace):
    """The input between 0 and 6."""

    function = staticmethod(functional.relu6)


class SELU(_InPlace):
    """`ELU`, scaled so that mean 0 and variance 1 stay."""

    function = staticmethod(functional.selu)


class SiLU(_InPlace):
    """`input / (1 + exp(-input))`, also called swish."""

    function = staticmethod(functional.silu)


class LogSigmoid(FunctionLayer):
    """`log(sigmoid(input))`, without overflow."""

    function = staticmethod(functional.logsigmoid)


class Sigmoid(FunctionLayer):
    """`1 / (1 + exp(-input))`."""

    function = staticmethod(functional.sigmoid)


class Softsign(FunctionLayer):
    """`input / (1 + abs(input))`."""

    function = staticmethod(functional.softsign)


class Tanh(FunctionLayer):
    """The hyperbolic tangent."""

    function = staticmethod(functional.tanh)


class Tanhshrink(FunctionLayer):
    """`input - tanh(input)`."""

    function = staticmethod(functional.tanhshrink)


# --- With settings ------------------------------------------------------------------------------


class CELU(_Activation):
    """`alpha (exp(input / alpha) - 1)` on the left of 0, and the input on the right."""

    function = staticmethod(functional.celu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


class ELU(_Activation):
    """`alpha (exp(input) - 1)` on the left of 0, and the input on the right."""

    function = staticmethod(functional.elu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


class GELU(_Activation):
    """The input times the share of the normal distribution below it; "tanh" is quicker."""

    function = staticmethod(functional.gelu)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate


class Hardshrink(_Activation):
    """The input, and 0 where it lies between `-lambd` and `lambd`."""

    function = staticmethod(functional.hardshrink)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd


class LeakyReLU(_Activation):
    """`negative_slope input` on the left of 0, and the input on the right."""

    function = staticmethod(functional.leaky_relu)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace


class Softplus(_Activation):
    """`log(1 + exp(beta input)) / beta`, and the input itself where they hardly differ."""

    function = staticmethod(functional.softplus)

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold


class Softshrink(_Activation):
    """The input moved towards 0 by `lambd`, and 0 where it is nearer."""

    function = staticmethod(functional.softshrink)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd


class Threshold(_Activation):
    """The input where it is above the threshold, and `value` elsewhere."""

    function = staticmethod(functional.threshold)

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace


class Hardtanh(_Activation):
    """The input between two bounds."""

    function = staticmethod(functional.hardtanh)

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        if not number("min_val", min_val) < number("max_val", max_val):
            raise SettingError(f"min_val must be below max_val; got {min_val} and {max_val}.")
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace


class RReLU(_Activation):
    """A slope times the input on the left of 0, and the input on the right.

    In training mode each element has a random slope from `lower` to `upper`, otherwise their mean.
    """

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        check_slopes(lower, upper)
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class PReLU(Module):
    """A slope that is learnt times the input on the left of 0, and the input on the right.

    Args:
        num_parameters: 1, or the number of channels, dimension 1 of the input, for one slope each.
        init: the slope to begin with.
        dtype: the dtype of the slopes, float32 if None.

    Attributes:
        weight: the slopes, shape (num_parameters,).
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = integer("num_parameters", num_parameters, 1)
        self.weight = Parameter(
            full((self.num_parameters,), float(number("init", init)), dtype=dtype)
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"num_parameters={self.num_parameters}"


# --- Over a dimension ---------------------------------------------------------------------------


class GLU(_Activation):
    """The first half of a dimension times the sigmoid of the second half."""

    function = staticmethod(functional.glu)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim


class _Normalized(_Activation):
    """What adds up to 1 along a dimension, or whose exponentials do.

    Args:
        dim: the dimension. None is as in torch: the first one of an input of 0, 1 or 3 dimensions
            and otherwise the second, with a warning, for it is rarely what is meant.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def _along(self, input: Tensor) -> int:
        """Return the dimension."""
        if self.dim is not None:
            return self.dim
        dim = 0 if input.ndim in (0, 1, 3) else 1
        warnings.warn(
            f"{type(self).__name__} was made without a dimension, and takes dimension {dim} of an "
            f"input of shape {input.shape}: say dim={dim} if it is meant.",
            stacklevel=4,
        )
        return dim


class LogSoftmax(_Normalized):
    """The logarithm of `Softmax`, without overflow."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.log_softmax(input, self._along(input))


class Softmax(_Normalized):
    """Exponentials along `dim`, scaled to add up to 1."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.softmax(input, self._along(input))


class Softmin(_Normalized):
    """The softmax of `-input`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.softmin(input, self._along(input))


class Softmax2d(Module):
    """The softmax over the channels of each place of images."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape, ([batch,] channels, height, width).

        Raises:
            InputError: the input has another number of dimensions.
        """
        require_tensors("Softmax2d", input)
        if input.ndim not in (3, 4):
            raise InputError(
                "Softmax2d takes images of shape ([batch,] channels, height, width); shape "
                f"{input.shape} was given."
            )
        return functional.softmax(input, -3)
