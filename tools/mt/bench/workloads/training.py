"""Steps of an optimizer, and training steps of a whole network."""

from __future__ import annotations

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Program, workload
from mt.bench.workloads.steps import lenet_step


def _adam(side: Library) -> Program:
    parameter = side.tensors.randn(1_000_000).requires_grad_()
    parameter.grad = side.tensors.randn(1_000_000)
    return side.optim.Adam([parameter], lr=1e-3, **side.fastest).step  # type: ignore[no-any-return]


workload("Adam step, 1M parameters", 0.8)(_adam)
workload("LeNet training step, batch 16", 0.4)(lenet_step(16))
workload("LeNet training step, batch 64", 0.5)(lenet_step(64))
