"""Single calls on tiny tensors, which measure the overhead of a call: the group `calls`.

The name of a row is its code, which runs unchanged in this project and in torch. It refers to the
variables of `variables_of`. `w`, and the parameters of layers, require a gradient, so that "w * x"
is recorded and "x * y" is not. In a row with `backward()`, all floating-point tensors require one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Make, Program, line, workload

TARGET = 1.2

DIFFERENTIABLE = (
    # Elementwise
    "x + y",
    "x * 2.0",
    "x * y + z",
    "(x * y).tanh()",
    "mt.where(mask, x, y)",
    "x.clamp(0.7, 1.2)",
    "x.exp()",
    "x.log()",
    "x.sqrt()",
    "x.pow(2)",
    "x.relu()",
    "F.gelu(x)",
    "F.dropout(x, 0.5)",
    # Reductions and products
    "m.max(1)[0]",
    "x[:4].softmax(0)",
    "m @ n",
    "F.linear(m, n, row)",
    "F.layer_norm(m, (4,))",
    # Views, indexing and joining
    "m.view(2, 8)",
    "m.reshape(2, 8)",
    "m.transpose(0, 1)",
    "m.permute(1, 0)",
    "x.unsqueeze(0)",
    "column.squeeze(1)",
    "row.expand(4, 4)",
    "m[0]",
    "m[:, 1]",
    "x[mask]",
    "mt.stack((x, y))",
    "mt.cat(scalars)",
    "x.clone()",
    # Layers
    "linear(m)",
    "mlp(sample)",
    "conv(image)",
    "F.max_pool2d(image, 2)",
    "F.embedding(tokens, m)",
    "cell(m)[0]",
)
"""Rows with a tensor as result: each is run alone, and followed by `.sum().backward()`."""

SCALARS = (
    "x.sum()",
    "x.mean()",
    "F.cross_entropy(m, tokens)",
    "F.mse_loss(x, y)",
    "F.binary_cross_entropy_with_logits(x, targets)",
    "distributions.Categorical(probs=probs).log_prob(action)",
)
"""Rows with a single number as result: each is run alone, and followed by `.backward()`."""

FORWARD = (
    "w * x + y",
    "x < y",
    "m.argmax(1)",
    "m.index_add_(0, action, row.unsqueeze(0))",
    # Constructors and conversions
    "mt.tensor([1.0])",
    "mt.from_numpy(array).float().unsqueeze(0)",
    "mt.zeros(4)",
    "mt.ones(4)",
    "mt.full((4,), 0.5)",
    "mt.empty(4)",
    "mt.arange(4)",
    "mt.randn(4)",
    "mt.zeros_like(x)",
    "x[0].item()",
    "x.tolist()",
    "w.detach()",
    "x.to(mt.float64)",
    # Training
    "distributions.Categorical(probs=probs)",
    "with mt.no_grad(): w * x",
    "sgd.step()",
    "adam.step()",
    "w.grad = x; adam.zero_grad()",
    "nn.utils.clip_grad_norm_((w, m), 1.0)",
)
"""Rows that are only run alone."""


def variables_of(side: Library) -> dict[str, Any]:
    """Return the variables for the code of a row, besides the modules of a library."""
    mt, nn = side.tensors, side.nn
    x, y, z, w = (mt.rand(8) + 0.5 for _ in range(4))  # positive, for the logarithm
    m, n = mt.randn(4, 4), mt.randn(4, 4)
    w.requires_grad_().grad = mt.randn(8)
    weight = mt.randn(4, 4).requires_grad_()
    weight.grad = mt.randn(4, 4)
    return {
        "x": x,
        "y": y,
        "z": z,
        "w": w,
        "m": m,
        "n": n,
        "row": mt.randn(4),
        "column": mt.randn(4, 1),
        "sample": mt.randn(1, 4),
        "image": mt.randn(1, 1, 8, 8),
        "scalars": [mt.randn(1) for _ in range(64)],
        "mask": mt.arange(8) < 4,
        "targets": (mt.arange(8) < 4).float(),
        "tokens": mt.tensor([1, 2, 0, 3]),
        "action": mt.tensor([1]),
        "probs": mt.full((1, 4), 0.25),
        "array": np.ones(4),
        "linear": nn.Linear(4, 4),
        "mlp": nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)),
        "conv": nn.Conv2d(1, 2, 3, padding=1),
        "cell": nn.LSTMCell(4, 4),
        "sgd": side.optim.SGD([w, weight], lr=1e-3, **side.fastest),
        "adam": side.optim.Adam([w, weight], lr=1e-3, **side.fastest),
    }


def prepared(code: str, side: Library) -> tuple[Program, list[Any]]:
    """Return a function that runs the code of a row, and the leaves that get a gradient."""
    variables = variables_of(side)
    run = line(code, side.names() | variables)
    if not code.endswith(".backward()"):
        return run, []
    names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    used = [value for name, value in variables.items() if name in names]
    return run, [leaf for value in used for leaf in _leaves_of(value, side)]


def _leaves_of(value: Any, side: Library) -> Iterator[Any]:
    """Yield the parameters of a layer, or the floating-point tensors, which now require grad."""
    if isinstance(value, side.nn.Module):
        yield from value.parameters()
    for tensor in value if isinstance(value, list) else [value]:
        if isinstance(tensor, side.tensors.Tensor) and tensor.is_floating_point():
            yield tensor.requires_grad_()


def _measured(code: str) -> Make:
    def make(side: Library) -> Program:
        run, leaves = prepared(code, side)
        if not leaves:
            return run

        def program() -> None:
            for leaf in leaves:
                leaf.grad = None
            run()

        return program

    return make


def _rows() -> Iterator[str]:
    """Yield the code of every row, in the order of the report."""
    for code in DIFFERENTIABLE:
        yield code
        operators = isinstance(ast.parse(code, mode="eval").body, ast.BinOp)
        yield f"({code}).sum().backward()" if operators else f"{code}.sum().backward()"
    for code in SCALARS:
        yield code
        yield f"{code}.backward()"
    yield from FORWARD


for _code in _rows():
    workload(_code, TARGET, "calls")(_measured(_code))
