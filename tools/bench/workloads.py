"""What is measured: programs written once, for torch's names are the project's.

A workload is a function of a side's modules. It makes its data and returns what is to be timed. Its
name says what it does, and on how much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Program = Callable[[], object]
Workload = Callable[[Any], Program]

WORKLOADS: dict[str, Workload] = {}
"""Every workload by name, in the order of the report."""


def workload(name: str) -> Callable[[Workload], Workload]:
    """Enter a function into `WORKLOADS`."""

    def enter(function: Workload) -> Workload:
        WORKLOADS[name] = function
        return function

    return enter


def _three(m: Any, size: int) -> Any:
    """Return three tensors that require grad."""
    return [m.randn(size).requires_grad_() for _ in range(3)]


# --- The cost of an operation, apart from its arithmetic ----------------------------------------


def _forward(size: int) -> Workload:
    def make(m: Any) -> Program:
        x, y, z = (leaf.detach() for leaf in _three(m, size))
        return lambda: x * y + z

    return make


def _with_a_number(size: int) -> Workload:
    def make(m: Any) -> Program:
        x = m.randn(size)
        return lambda: x * 2.0 + 1.0

    return make


def _recorded(size: int) -> Workload:
    def make(m: Any) -> Program:
        x, y, z = _three(m, size)
        return lambda: x * y + z

    return make


def _differentiated(size: int) -> Workload:
    def make(m: Any) -> Program:
        leaves = x, y, z = _three(m, size)

        def program() -> None:
            for leaf in leaves:
                leaf.grad = None
            (x * y + z).sum().backward()

        return program

    return make


def _chain(size: int) -> Workload:
    def make(m: Any) -> Program:
        leaves = x, y, z = _three(m, size)

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
    workload(f"x * y + z, {_size} elements: forward")(_forward(_size))
    workload(f"x * 2 + 1, {_size} elements: forward")(_with_a_number(_size))
    workload(f"x * y + z, {_size} elements: forward, recorded")(_recorded(_size))
    workload(f"(x * y + z).sum(), {_size} elements: forward and backward")(_differentiated(_size))
workload("100 operations in a chain, 1000 elements: forward and backward")(_chain(1000))
