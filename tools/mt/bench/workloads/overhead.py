"""The overhead of an operation: small tensors, in single operations and in a chain."""

from __future__ import annotations

from typing import Any

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Make, Program, workload


def _three(side: Library, size: int) -> Any:
    """Return three tensors that require grad."""
    return [side.tensors.randn(size).requires_grad_() for _ in range(3)]


def _forward(size: int, recorded: bool = False) -> Make:
    def make(side: Library) -> Program:
        x, y, z = (leaf.requires_grad_(recorded) for leaf in _three(side, size))
        return lambda: x * y + z

    return make


def _with_a_number(size: int) -> Make:
    def make(side: Library) -> Program:
        x = side.tensors.randn(size)
        return lambda: x * 2.0 + 1.0

    return make


def _differentiated(size: int) -> Make:
    def make(side: Library) -> Program:
        leaves = x, y, z = _three(side, size)

        def program() -> None:
            for leaf in leaves:
                leaf.grad = None
            (x * y + z).sum().backward()

        return program

    return make


def _chain(size: int) -> Make:
    def make(side: Library) -> Program:
        leaves = x, y, z = _three(side, size)

        def program() -> None:
            for leaf in leaves:
                leaf.grad = None
            h = x
            for _ in range(50):
                h = h * y + z
            h.sum().backward()

        return program

    return make


for _size in (8, 1000):
    workload(f"x * y + z, {_size} elements: forward", 0.6)(_forward(_size))
    workload(f"x * 2 + 1, {_size} elements: forward", 0.6)(_with_a_number(_size))
    workload(f"x * y + z, {_size} elements: forward, recorded", 0.6)(_forward(_size, recorded=True))
    workload(f"(x * y + z).sum(), {_size} elements: forward and backward", 0.5)(
        _differentiated(_size)
    )
workload("100 operations in a chain, 1000 elements: forward and backward", 0.7)(_chain(1000))
