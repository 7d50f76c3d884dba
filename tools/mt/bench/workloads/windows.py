"""Convolution and pooling of 32 images of 28 x 28, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Make, Program, on_random, workload


def _backward(operation: Callable[..., Any], *shapes: tuple[int, ...]) -> Make:
    """Measure only the backward, repeated on the same result."""

    def make(side: Library) -> Program:
        leaves = [side.tensors.randn(*shape).requires_grad_() for shape in shapes]
        result = operation(side, *leaves)
        upstream = side.tensors.randn(*result.shape)

        def program() -> None:
            for leaf in leaves:
                leaf.grad = None
            result.backward(upstream, retain_graph=True)

        return program

    return make


def _convolution(stride: int) -> Callable[..., Any]:
    return lambda side, *tensors: side.functional.conv2d(*tensors, stride=stride, padding=1)


for _inputs, _outputs, _stride, _target in (
    (1, 4, 1, 0.5),
    (4, 8, 1, 0.5),
    (16, 32, 1, 1.0),
    (64, 64, 1, 1.0),
    (16, 32, 2, 1.2),
    (64, 64, 2, 1.2),
):
    _shapes = (32, _inputs, 28, 28), (_outputs, _inputs, 3, 3), (_outputs,)
    _name = f"conv2d 3 x 3, {_inputs} to {_outputs} channels, stride {_stride}"
    workload(f"{_name}: forward", _target)(on_random(_convolution(_stride), *_shapes))
    workload(f"{_name}: backward", _target)(_backward(_convolution(_stride), *_shapes))


for _name in ("max_pool2d", "avg_pool2d"):

    def _pool(side: Library, x: Any, name: str = _name) -> Any:
        return getattr(side.functional, name)(x, 2)

    workload(f"{_name} 2 x 2, 32 x 16 planes of 28: forward", 0.3)(
        on_random(_pool, (32, 16, 28, 28))
    )
    workload(f"{_name} 2 x 2, 32 x 16 planes of 28: backward", 1.0)(
        _backward(_pool, (32, 16, 28, 28))
    )
