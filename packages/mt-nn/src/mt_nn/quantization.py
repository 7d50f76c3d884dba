"""Linear layers whose weights are 8-bit integers, for models that are not trained any further.

Each output has a scale: the largest absolute weight of its row, divided by 127. The weights are
rounded to multiples of it, and stored as int8. Inputs, biases and results stay floats: this is
*weight-only* quantization.
"""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from mt_nn.core.linear import Linear
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.errors import InputError, SettingError
from mt_operators import Buffer
from mt_tensor import Tensor, fused, int8, no_grad, zeros
from mt_tensor.extending import as_dtype

M = TypeVar("M", bound=Module)

LARGEST = 127
"""The largest absolute value of a quantized weight."""


def quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize the rows of a matrix.

    Args:
        weight: floats, shape (outputs, inputs).

    Returns:
        Integers and a scale for each row: int8 of the same shape, and floats of shape (outputs,),
        whose product is the rounded weight.
    """
    with no_grad():
        scale = weight.abs().amax(1) / LARGEST
        scale = scale.masked_fill(scale == 0.0, 1.0)
        return (weight / scale.unsqueeze(1)).round().to(int8), scale


@fused("int8_linear")
def int8_linear(input: Tensor, weight: Tensor, scale: Tensor, bias: Tensor | None) -> Tensor:
    """Return `input @ weight.T * scale + bias`.

    Args:
        input: shape (*batch, inputs).
        weight: int8, shape (outputs, inputs).
        scale: a factor for each output, shape (outputs,).
        bias: shape (outputs,), or None.
    """
    out = input @ weight.to(input.dtype).T * scale
    return out if bias is None else out + bias


class QuantizedLinear(Module):
    """A linear layer with int8 weights, which cannot be trained; see `quantize_dynamic`.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        bias: whether to add a bias.
        dtype: the dtype of inputs and outputs.

    Attributes:
        weight: a buffer of int8, shape (out_features, in_features).
        scale: a buffer: the factor of each row, shape (out_features,).
        bias: a parameter without gradient, shape (out_features,), or None.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Buffer(zeros(out_features, in_features, dtype=int8))
        self.scale = Buffer(zeros(out_features, dtype=dtype))
        self.bias = Parameter(zeros(out_features, dtype=dtype), False) if bias else None

    @classmethod
    def of(cls, linear: Linear) -> QuantizedLinear:
        """Return the quantized form of a linear layer."""
        has_bias, dtype = linear.bias is not None, linear.weight.dtype
        layer = cls(linear.in_features, linear.out_features, has_bias, dtype)
        layer.weight, layer.scale = map(Buffer, quantize(linear.weight))
        if linear.bias is not None:
            layer.bias = Parameter(linear.bias.detach().clone(), False)
        layer.training = linear.training
        return layer

    def forward(self, input: Tensor) -> Tensor:
        """Return the outputs, shape (*batch, out_features), for inputs (*batch, in_features).

        Raises:
            InputError: the shape or the dtype is invalid.
        """
        weight: Any = self.weight
        scale: Any = self.scale
        if input.shape[-1:] != (self.in_features,) or input.dtype is not scale.dtype:
            raise InputError(
                f"QuantizedLinear takes {self.in_features} features of {scale.dtype.name} in the "
                f"last dimension; shape {input.shape} and {input.dtype.name} were given."
            )
        return int8_linear(input, weight, scale, self.bias)

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


def quantize_dynamic(
    model: M,
    qconfig_spec: Any = None,
    dtype: Any = int8,
    mapping: Any = None,
    inplace: bool = False,
) -> M:
    """Replace all linear layers of a model with layers that have int8 weights.

    In torch, the inputs are quantized, too. To load saved weights, quantize a new model of the same
    class, and call `load_state_dict`.

    Args:
        model: the model; a `Linear` itself is replaced, too. Subclasses of `Linear` stay.
        qconfig_spec: `{Linear}` or None.
        dtype: `qint8`, which is int8.
        mapping: must be None.
        inplace: whether to change the model instead of a copy.

    Returns:
        The model. Weights that several layers share are quantized in each linear layer; the other
        layers keep them as floats.

    Raises:
        SettingError: another value is given for `qconfig_spec`, `dtype` or `mapping`.
    """
    kinds = {Linear} if qconfig_spec is None else set(qconfig_spec)
    if kinds != {Linear} or as_dtype(dtype) is not int8 or mapping is not None:
        raise SettingError(
            "quantize_dynamic() quantizes linear layers to int8; got "
            f"qconfig_spec={qconfig_spec!r}, dtype={dtype} and mapping={mapping!r}. Pass "
            "{nn.Linear}, torch.qint8 and None."
        )
    if not inplace:
        model = copy.deepcopy(model)
    network: Any = model
    if type(network) is Linear:
        return QuantizedLinear.of(network)  # type: ignore[return-value]
    replaced: dict[Module, QuantizedLinear] = {}
    for module in list(model.modules()):
        for name, child in list(module._modules.items()):
            if type(child) is Linear:
                if child not in replaced:
                    replaced[child] = QuantizedLinear.of(child)
                setattr(module, name, replaced[child])
    return model
