"""The sum of five numbers, which a block of threads reduces in a tree."""

from typing import Any

X = [0.5, -1.25, 2.0, 3.5, -0.75]


def cuda() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_cuda import CudaOps, Simulator

    x = mt.tensor(X, backend=CudaOps(Simulator(), plain=True), requires_grad=True)
    total = x.sum()
    total.backward()
    return total, x.grad


def no_barrier() -> tuple[Any, Any]:
    from dataclasses import replace

    import mt_tensor as mt
    from mt_cuda import CudaOps, Simulator

    class WithoutBarriers(Simulator):
        def load(self, kernel: Any) -> Any:
            without = kernel.source.replace("cuda.syncthreads()", "pass")
            return super().load(replace(kernel, source=without))

    return mt.tensor(X, backend=CudaOps(WithoutBarriers(), plain=True)).sum(), None


def reference() -> tuple[Any, Any]:
    return sum(X), [1.0] * len(X)
