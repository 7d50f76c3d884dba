"""Steps of training: an optimizer's, and those of a whole network."""

from __future__ import annotations

from mt.bench.libraries import Library
from mt.bench.networks import small_lenet
from mt.bench.workloads.registry import Make, Program, workload


def _adam(side: Library) -> Program:
    parameter = side.tensors.randn(1_000_000).requires_grad_()
    parameter.grad = side.tensors.randn(1_000_000)
    return side.optim.Adam([parameter], lr=1e-3, **side.fastest).step  # type: ignore[no-any-return]


def _lenet(batch: int) -> Make:
    def make(side: Library) -> Program:
        model = small_lenet(side)
        optimizer = side.optim.SGD(model.parameters(), lr=0.01, **side.fastest)
        images = side.tensors.randn(batch, 1, 28, 28)
        classes = side.tensors.randint(0, 10, (batch,))

        def step() -> None:
            optimizer.zero_grad()
            side.functional.cross_entropy(model(images), classes).backward()
            optimizer.step()

        return step

    return make


workload("Adam step, 1M parameters", 0.8)(_adam)
workload("LeNet training step, batch 16", 0.4)(_lenet(16))
workload("LeNet training step, batch 64", 0.5)(_lenet(64))
