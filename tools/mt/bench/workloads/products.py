"""Matrix products, single and in batches."""

from __future__ import annotations

from mt.bench.workloads.registry import Make, on_random, workload


def _product(*shape: int) -> Make:
    return on_random(lambda _, a, b: a @ b, shape, shape)


for _size, _target in ((64, 0.8), (256, 0.8), (1024, 0.6)):
    workload(f"matmul, {_size} x {_size}", _target)(_product(_size, _size))
workload("matmul, a batch of 64 products 256 x 256", 1.0)(_product(64, 256, 256))
