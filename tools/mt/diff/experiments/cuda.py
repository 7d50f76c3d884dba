"""Tensors on a GPU.

A loop for the cores of a CPU does not run on a GPU, where thousands of threads process an element
each. Without the stage there is no backend for GPUs. With it there is: it runs on a GPU if the
machine has one, and otherwise in the simulator, which runs one thread after the other.
"""

import os
from typing import Any


def run() -> None:
    """Compute with a backend for GPUs."""
    import mt_tensor as mt

    with mt.use_backend("cuda"):
        x = mt.linspace(-1.0, 1.0, 5, requires_grad=True)
        slopes: Any = mt.autograd.grad(x.tanh().sum(), [x])[0]
        print(x.backend, [round(value, 5) for value in slopes.tolist()])


def before() -> None:
    """Use the backend where it is not installed."""
    run()


def after() -> None:
    """Use it where it is installed."""
    import mt_tensor as mt

    if mt.backends()["cuda"].status() != "ready":
        os.environ["MT_CUDA_SIM"] = "1"
    run()
