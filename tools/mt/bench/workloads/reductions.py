"""Reductions over the rows and columns of a matrix, and operations built on these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Make, Program, on_random, workload

ROWS, COLUMNS = 4096, 1024


def _of_a_matrix(operation: Callable[[Library, Any], Any]) -> Make:
    return on_random(operation, (ROWS, COLUMNS))


def _layer_norm(side: Library, x: Any, weight: Any, bias: Any) -> Any:
    return side.functional.layer_norm(x, (COLUMNS,), weight, bias)


def _cross_entropy(side: Library) -> Program:
    scores = side.tensors.randn(ROWS, COLUMNS).requires_grad_()
    classes = side.tensors.randint(0, COLUMNS, (ROWS,))

    def program() -> None:
        scores.grad = None
        side.functional.cross_entropy(scores, classes).backward()

    return program


_SHAPE = f"{ROWS} x {COLUMNS}"
workload(f"sum over the last axis, {_SHAPE}", 1.0)(_of_a_matrix(lambda _, x: x.sum(1)))
workload(f"sum over the first axis, {_SHAPE}", 0.4)(_of_a_matrix(lambda _, x: x.sum(0)))
workload(f"max over the last axis, {_SHAPE}", 1.0)(_of_a_matrix(lambda _, x: x.amax(1)))
workload(f"max over the first axis, {_SHAPE}", 0.4)(_of_a_matrix(lambda _, x: x.amax(0)))
workload(f"softmax, {_SHAPE}", 0.6)(_of_a_matrix(lambda side, x: side.tensors.softmax(x, 1)))
workload(f"log_softmax, {_SHAPE}", 0.6)(
    _of_a_matrix(lambda side, x: side.tensors.log_softmax(x, 1))
)
workload(f"layer norm, {_SHAPE}", 0.8)(
    on_random(_layer_norm, (ROWS, COLUMNS), (COLUMNS,), (COLUMNS,))
)
workload(f"cross-entropy, {_SHAPE}: forward and backward", 0.4)(_cross_entropy)
