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
    """What the functions need of a `GraphTape`; see there."""

    graph: Graph
    linear: dict[str, tuple[str, str, str]]

    def read(self, data: TensorData, repeat: bool = True) -> str:
        """Return the name of the elements of a view."""


def _read(tape: Values, *tensors: Tensor | None) -> list[str]:
    """Return the names of tensors, and an empty one for None; none for the last ones."""
    names = ["" if x is None else tape.read(x._tensor) for x in tensors]
    while names and not names[-1]:
        names.pop()
    return names


def _linear(tape: Values, input: Tensor, weight: Tensor, bias: Tensor | None) -> str:
    if input.ndim == 2:
        return tape.graph.add("Gemm", *_read(tape, input, weight, bias), transB=1)
    x, matrix, offset = (
        _read(tape, each)[0] if each is not None else "" for each in (input, weight, bias)
    )
    result = tape.graph.add("MatMul", x, *_read(tape, weight.T))
    result = tape.graph.add("Add", result, offset) if offset else result
    tape.linear[result] = x, matrix, offset
    return result


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


# --- Recurrent networks ---------------------------------------------------------------------------


def _recurrent(
    tape: Values,
    operation: str,
    order: tuple[int, ...],
    projected: Tensor,
    states: list[Tensor],
    weight: Tensor,
    bias: Tensor | None,
    reverse: bool,
    **settings: Any,
) -> list[str]:
    """Add a layer for one direction, and return its results.

    ONNX computes the products of the inputs inside of the layer. Here they are given: the weight of
    the inputs is the identity, unless the products are those of a linear layer.

    Args:
        tape: the tape.
        operation: the operator.
        order: the gates in the order of ONNX.
        projected: products of the inputs, shape (steps, batch, gates * width).
        states: the initial states, shape (batch, width) each.
        weight: the weight of the hidden state, shape (gates * width, width).
        bias: added to the product with `weight`, or None.
        reverse: whether to start with the last step.
        **settings: further attributes.
    """
    graph = tape.graph
    width = states[0].shape[-1]
    rows = np.concatenate([np.arange(width) + gate * width for gate in order])

    def in_order(name: str) -> str:
        if order == tuple(range(len(order))):
            return name
        return graph.add("Gather", name, graph.constant(rows), axis=0)

    def with_direction(name: str) -> str:
        return graph.add("Unsqueeze", name, graph.vector((0,)))

    zeros = graph.constant(np.zeros(len(rows), projected.dtype.numpy))
    inputs = tape.read(projected._tensor)
    if inputs in tape.linear:
        inputs, of_inputs, offset = tape.linear[inputs]
    else:
        of_inputs, offset = graph.constant(np.eye(len(rows), dtype=projected.dtype.numpy)), zeros
    of_state = zeros if bias is None else tape.read(bias._tensor)
    biases = graph.add("Concat", in_order(offset or zeros), in_order(of_state), axis=0)
    starts = [with_direction(tape.read(each._tensor)) for each in states]
    matrices = (of_inputs, tape.read(weight._tensor))
    results = graph.add_many(
        operation,
        [
            inputs,
            *(with_direction(in_order(matrix)) for matrix in matrices),
            with_direction(biases),
            "",
            *starts,
        ],
        3 if operation == "LSTM" else 2,
        hidden_size=width,
        direction="reverse" if reverse else "forward",
        **settings,
    )
    return [graph.add("Squeeze", results[0], graph.vector((1,))), *results[1:]]


def _rnn(
    tape: Values,
    projected: Tensor,
    hidden: Tensor,
    weight: Tensor,
    lengths: Tensor | None,
    reverse: bool,
    is_relu: bool,
) -> str | None:
    if lengths is not None:  # ONNX returns zeros after the last step
        return None
    arguments = (projected, [hidden], weight, None, reverse)
    activation = ["Relu" if is_relu else "Tanh"]
    return _recurrent(tape, "RNN", (0,), *arguments, activations=activation)[0]


def _gru(
    tape: Values,
    projected: Tensor,
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    lengths: Tensor | None,
    reverse: bool,
) -> str | None:
    if lengths is not None:
        return None
    arguments = (projected, [hidden], weight, bias, reverse)
    return _recurrent(tape, "GRU", (1, 0, 2), *arguments, linear_before_reset=1)[0]


def _lstm(
    tape: Values,
    projected: Tensor,
    hidden: Tensor,
    cell: Tensor,
    weight: Tensor,
    projection: Tensor | None,
    lengths: Tensor | None,
    reverse: bool,
) -> str | None:
    if lengths is not None or projection is not None:
        return None
    arguments = (projected, [hidden, cell], weight, None, reverse)
    states, _, last = _recurrent(tape, "LSTM", (0, 3, 1, 2), *arguments)
    flat = tape.graph.vector((-1,))
    parts = [tape.graph.add("Reshape", each, flat) for each in (states, last)]
    return tape.graph.add("Concat", *parts, axis=0)


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
    "gru": _gru,
    "layer_norm": _layer_norm,
    "linear": _linear,
    "log_softmax": _along("LogSoftmax"),
    "lstm": _lstm,
    "max_pool2d": _pool("MaxPool"),
    "rnn": _rnn,
    "softmax": _along("Softmax"),
}
"""The function for each named operation that is not composed of others."""
