"""Elementwise operations on large tensors: the cost of memory and of elementary functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Make, Program, on_random, workload

MILLIONS = 4_000_000


def _of_two(shape: tuple[int, ...], operation: Callable[[Any, Any], Any]) -> Make:
    return on_random(lambda _, x, y: operation(x, y), shape, shape)


def _of_one(operation: Callable[[Library, Any], Any]) -> Make:
    def make(side: Library) -> Program:
        x = side.tensors.rand(MILLIONS) * 4.0 + 0.5
        return lambda: operation(side, x)

    return make


workload("x + y, 256K elements", 1.0)(_of_two((262_144,), lambda x, y: x + y))
workload("x * y, 4M elements", 1.0)(_of_two((MILLIONS,), lambda x, y: x * y))
workload("x.T + y, 1024 x 1024", 0.4)(_of_two((1024, 1024), lambda x, y: x.T + y))
workload("exp, 4M elements", 0.4)(_of_one(lambda side, x: side.tensors.exp(x)))
workload("log, 4M elements", 0.4)(_of_one(lambda side, x: side.tensors.log(x)))
workload("tanh, 4M elements", 0.2)(_of_one(lambda side, x: side.tensors.tanh(x)))
workload("sigmoid, 4M elements", 0.9)(_of_one(lambda side, x: side.tensors.sigmoid(x)))
workload("gelu, 4M elements", 0.6)(_of_one(lambda side, x: side.functional.gelu(x)))
