"""Named operations, such as convolution, as single nodes.

Each function takes the tape and the arguments of a named operation. It adds its nodes and returns
the name of the result, or None for arguments for which the operation must be composed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from mt_nn.onnx.graph import Graph
from mt_tensor import Tensor, TensorData


class Values(Protocol):
    """The part of `GraphTape` that the functions use."""

    graph: Graph

    def read(self, data: TensorData) -> str:
        """Return the name of the elements of a view."""


def _read(tape: Values, *tensors: Tensor | None) -> list[str]:
    """Return the names of tensors; for None an empty string, which is omitted at the end."""
    names = ["" if x is None else tape.read(x._tensor) for x in tensors]
    while names and not names[-1]:
        names.pop()
    return names


def _linear(tape: Values, input: Tensor, weight: Tensor, bias: Tensor | None) -> str:
    if input.ndim == 2:
        return tape.graph.add("Gemm", *_read(tape, input, weight, bias), transB=1)
    product = tape.graph.add("MatMul", *_read(tape, input, weight.T))
    return product if bias is None else tape.graph.add("Add", product, *_read(tape, bias))


def _convolution(
    tape: Values,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
    operation: str = "Conv",
    **others: Any,
) -> str:
    names = _read(tape, input, weight, bias)
    settings = {"strides": stride, "pads": (*padding, *padding), "dilations": dilation}
    return tape.graph.add(operation, *names, group=groups, **settings, **others)


def _transposed_convolution(
    tape: Values,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output_padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> str:
    arguments = (input, weight, bias, stride, padding, dilation, groups, "ConvTranspose")
    return _convolution(tape, *arguments, output_padding=output_padding)


def _pool(operation: str, **others: Any) -> Callable[..., str]:
    def add(
        tape: Values,
        input: Tensor,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
    ) -> str:
        settings = {"kernel_shape": kernel_size, "strides": stride, "pads": (*padding, *padding)}
        return tape.graph.add(operation, *_read(tape, input), **settings, **others)

    return add


def _along(operation: str, **others: Any) -> Callable[..., str | None]:
    """Return a function for an operation along one dimension."""

    def add(tape: Values, input: Tensor, dim: int) -> str | None:
        if input.ndim == 0 or input.numel() == 0:
            return None
        return tape.graph.add(operation, *_read(tape, input), axis=dim, **others)

    return add


def _layer_norm(
    tape: Values,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    dims: int,
    eps: float,
) -> str | None:
    if dims == 0:
        return None
    names = _read(tape, input, weight, bias)
    if weight is None:
        ones = np.ones(tuple(input.shape[-dims:]), input.dtype.numpy)
        names[1:2] = [tape.graph.constant(ones)]
    return tape.graph.add("LayerNormalization", *names, axis=-dims, epsilon=eps)


def _embedding(tape: Values, weight: Tensor, input: Tensor) -> str:
    return tape.graph.add("Gather", *_read(tape, weight, input), axis=0)


def _cumsum(tape: Values, input: Tensor, dim: int) -> str:
    return tape.graph.add("CumSum", *_read(tape, input), tape.graph.constant(np.int64(dim)))


OPERATIONS: dict[str, Callable[..., str | None]] = {
    "argmax": _along("ArgMax", keepdims=0),
    "argmin": _along("ArgMin", keepdims=0),
    "avg_pool2d": _pool("AveragePool", count_include_pad=1),
    "conv2d": _convolution,
    "conv3d": _convolution,
    "conv_transpose2d": _transposed_convolution,
    "conv_transpose3d": _transposed_convolution,
    "cumsum": _cumsum,
    "embedding": _embedding,
    "layer_norm": _layer_norm,
    "linear": _linear,
    "log_softmax": _along("LogSoftmax"),
    "max_pool2d": _pool("MaxPool"),
    "softmax": _along("Softmax"),
}
"""The function for each named operation that is not composed of others."""
