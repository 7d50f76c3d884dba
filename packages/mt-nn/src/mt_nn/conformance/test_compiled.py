"""Compare every call of the tables in a compiled step with the same without compilation.

The first step records the program, and the second runs it, with the buffers that the first has
updated, and with other random numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_nn import Module
from mt_nn.conformance.calls import CALLS, Call
from mt_nn.conformance.calls.call import arrays_of, leaves_of, prepared
from mt_tensor import compile as compiled
from mt_tensor.backends import TensorBackend
from mt_tensor.errors import CompileError
from mt_tensor.extending import Array

_IN_FUNCTIONAL = ("embedding", "embedding_bag", "fractional_max_pool2d", "fractional_max_pool3d")
READING = {
    *("AdaptiveLogSoftmaxWithLoss", "BatchNorm1d", "Embedding", "EmbeddingBag"),
    *("FractionalMaxPool2d", "FractionalMaxPool3d"),
    *(f"functional.{name}" for name in _IN_FUNCTIONAL),
}
"""Layers and functions that read elements with some settings, and so cannot be compiled then."""

TOLERANCE: dict[str, Any] = {"rtol": 1e-5, "atol": 5e-6}
STEPS = 2


def steps(call: Call, is_compiled: bool) -> list[list[Array | None]]:
    """Return results, gradients and buffers of several steps, each with other random numbers."""
    function, parameters = prepared(call, "float32")

    def step(inputs: Any, keywords: dict[str, Any]) -> list[mt.Tensor]:
        results = list(arrays_of(function(*inputs, **keywords)))
        losses = [(each * each + each).sum() for each in results if each.requires_grad]
        if losses:
            total: Any = sum(losses[1:], losses[0])
            total.backward()
        return [each.detach() for each in results]

    run: Any = compiled(step) if is_compiled else step
    found = []
    for seed in range(STEPS):
        mt.manual_seed(seed)
        inputs, keywords = leaves_of(call.inputs, "float32"), leaves_of(call.options, "float32")
        if call.is_function:
            keywords = {**keywords, **leaves_of(call.settings, "float32")}
        for parameter in parameters:
            parameter.grad = None
        results = run(inputs, keywords)
        leaves = [*arrays_of([*inputs, keywords]), *parameters]
        buffers = [b for _, b in function.named_buffers()] if isinstance(function, Module) else []
        found.append(
            [
                None if each is None else each.numpy().copy()
                for each in (*results, *[leaf.grad for leaf in leaves], *buffers)
            ]
        )
    assert not is_compiled or run.programs or call.name in READING
    return found


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_compiled_call_matches_uncompiled(backend: TensorBackend, call: Call) -> None:
    assert backend is mt.current_backend()
    try:
        found = steps(call, True)
    except CompileError:
        assert call.name in READING
        return
    for ours, reference in zip(found, steps(call, False), strict=True):
        assert len(ours) == len(reference)
        for actual, expected in zip(ours, reference, strict=True):
            assert (actual is None) == (expected is None)
            if actual is not None and expected is not None:
                np.testing.assert_allclose(actual, expected, **TOLERANCE)
