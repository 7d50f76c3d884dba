"""Calls that are missing from the sample tables: creating, inspecting and differentiating tensors.

The tables compare results with an oracle. Calls without one, because they are random or concern
memory or gradients, are listed here: a function of some tensors, with their shapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mt.fuzz.programs import Source
from mt.fuzz.recording import Operand, Sample
from mt_tensor.core.dtypes import Array

FLOAT, INT, BOOL = Source("torch.float32"), Source("torch.int64"), Source("torch.bool")
LIKE: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("zeros_like", ()),
    ("ones_like", ()),
    ("full_like", (7,)),
    ("empty_like", ()),
    ("rand_like", ()),
    ("randn_like", ()),
    ("randint_like", (9,)),
)
MAKING: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("zeros", (2, 3)),
    ("ones", (2, 3)),
    ("empty", (2, 3)),
    ("rand", (2, 3)),
    ("randn", (2, 3)),
    ("full", ((2, 3), 7)),
    ("full", ((2,), 0.5)),
    ("full", ((), True)),
    ("arange", (5,)),
    ("arange", (1, 7, 2)),
    ("arange", (0.5, -1.0, -0.25)),
    ("linspace", (0.0, 1.0, 5)),
    ("logspace", (0.0, 2.0, 3)),
    ("eye", (3,)),
    ("eye", (2, 3)),
    ("tril_indices", (3, 2)),
    ("triu_indices", (2, 3, 1)),
    ("randint", (9, (2, 3))),
    ("randint", (-2, 9, (3,))),
    ("randperm", (5,)),
    ("normal", (0.0, 1.0, (2, 3))),
    ("broadcast_shapes", ((2, 1), (3,))),
    ("result_type", (1, 2.5)),
    ("promote_types", (INT, FLOAT)),
)
INSPECTING = """
    numel is_floating_point is_complex is_signed is_nonzero dim ndimension nelement size
    stride storage_offset is_contiguous element_size tolist item type data_ptr
"""
ATTRIBUTES = "shape ndim dtype is_leaf requires_grad itemsize nbytes is_cuda data grad"
CONVERTING = "bool byte char cpu double float half int long short clone contiguous detach"


def _x(*shape: int) -> Operand:
    return Operand(np.arange(int(np.prod(shape))).reshape(shape) * 0.25 + 0.5)


def _counts(*shape: int) -> Operand:
    return Operand(np.arange(int(np.prod(shape))).reshape(shape))


def more_samples() -> Iterator[Sample]:
    """Yield the samples of this module."""
    x, y = _x(2, 3), _x(3)
    for name, args in MAKING:
        yield Sample(f"torch.{name}()", args)
        if name in {"zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye"}:
            yield Sample(f"torch.{name}()", args, {"dtype": INT if name != "rand" else FLOAT})
    for name, args in LIKE:
        yield Sample(f"torch.{name}()", (x, *args))
    for name in ("new_zeros", "new_ones", "new_empty"):
        yield Sample(f".{name}()", (x, (2, 3)))
    yield Sample(".new_full()", (x, (2, 3), 7))
    yield Sample(".new_tensor()", (x, [1.5, 2.0]))
    for name in INSPECTING.split():
        yield Sample(f".{name}()", (_x() if name in {"item", "is_nonzero"} else x,))
    for name in ATTRIBUTES.split():
        yield Sample(f".{name}", (x,))
    for name in CONVERTING.split():
        yield Sample(f".{name}()", (x,))
    for dtype in (FLOAT, INT, BOOL):
        yield Sample(".to()", (x, dtype))
        yield Sample(".type()", (x, dtype))
        yield Sample("torch.as_tensor()", ([1, 0, 2],), {"dtype": dtype})
        yield Sample("torch.tensor()", ([[1.5, 2.0], [0.0, -1.0]],), {"dtype": dtype})
    yield Sample("torch.linalg.cross()", (x, y))
    yield Sample("torch.linalg.matmul()", (x, y))
    yield Sample("torch.is_same_size()", (x, _x(2, 3)))
    yield Sample("torch.result_type()", (x, 2.5))
    yield Sample(".to()", (x, _counts(2)))
    yield Sample(".type_as()", (x, _counts(2)))
    yield from _of_networks()
    yield from _drawing(x)
    yield from _differentiating(x, y)


def _of_networks() -> Iterator[Sample]:
    """Yield calls of functions that the tables leave out, or have only as layers."""
    yield Sample("torch.nn.functional.gumbel_softmax()", (_x(2, 3),))
    scores = Operand(array_of((4, 2, 3), -2.0, -0.25))
    labels, lengths = Operand(np.array([[1, 2], [2, 2]])), Operand(np.array([4, 3]))
    for reduction in ("mean", "sum", "none"):
        yield Sample(
            "torch.nn.functional.ctc_loss()",
            (scores, labels, lengths, Operand(np.array([2, 1]))),
            {"reduction": reduction},
        )


def _drawing(x: Operand) -> Iterator[Sample]:
    chance = Operand(np.array([[0.0, 0.25, 1.0], [0.5, 1.0, 0.75]]))
    yield Sample("torch.bernoulli()", (chance,))
    yield Sample(".bernoulli_()", (x, 0.5))
    yield Sample("torch.multinomial()", (chance, 2))
    yield Sample("torch.multinomial()", (chance, 5, True))
    for name in ("uniform_", "normal_", "exponential_", "random_"):
        yield Sample(f".{name}()", (x,))


def _differentiating(x: Operand, y: Operand) -> Iterator[Sample]:
    """Yield calls that compute gradients; the generator makes sure that there are some."""
    weights = _x(2, 3)
    for settings in ({}, {"retain_graph": True}, {"create_graph": True}):
        yield Sample(".backward()", (x, weights), dict(settings))
        yield Sample(".backward()", (x, weights), {**settings, "inputs": [y]})
        yield Sample("torch.autograd.grad()", (x, [y], weights), {**settings, "allow_unused": True})
    yield Sample(".requires_grad_()", (x,))
    yield Sample(".requires_grad_()", (x, False))
    for name in ("detach_", "retain_grad"):
        yield Sample(f".{name}()", (x,))
    for hook in ("lambda grad: 2 * grad", "lambda grad: None", "lambda grad: grad + 1"):
        yield Sample(".register_hook()", (x, Source(hook)))


def array_of(shape: tuple[int, ...], low: float, high: float) -> Array:
    """Return evenly spaced numbers in an interval."""
    size = int(np.prod(shape))
    return np.linspace(low, high, max(size, 1))[:size].reshape(shape)
