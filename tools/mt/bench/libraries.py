"""The modules of the two libraries under the same names: tensors, functions, layers, optimizers.

The project has torch's names, so that a program is written once; only the modules differ.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


def _unchanged(made: Any) -> Any:
    return made


@dataclass(frozen=True)
class Library:
    """The modules of a side.

    Attributes:
        tensors: the module of tensors and their operations.
        nn: the module of layers.
        functional: the module of functions for networks.
        optim: the module of optimizers.
        distributions: the module of probability distributions.
        is_torch: whether the library is torch.
        fastest: the arguments that select the fastest mode of an optimizer.
        step: a function that compiles a step, or returns it unchanged.
        network: a function that compiles a network, or returns it unchanged.
    """

    tensors: Any
    nn: Any
    functional: Any
    optim: Any
    distributions: Any
    is_torch: bool = False
    fastest: dict[str, bool] = field(default_factory=dict)
    step: Callable[[Any], Any] = _unchanged
    network: Callable[[Any], Any] = _unchanged

    def names(self) -> dict[str, Any]:
        """Return the names that code written for both libraries uses."""
        return {
            "mt": self.tensors,
            "nn": self.nn,
            "F": self.functional,
            "optim": self.optim,
            "distributions": self.distributions,
            "fastest": self.fastest,
        }


def library(name: str, threads: int) -> Library:
    """Return the side with this module of tensors, on a number of threads.

    `torch+compile` compiles networks, and `mt_tensor+compile` whole steps.
    """
    name, _, compiles = name.partition("+")
    is_torch = name == "torch"
    networks = "torch" if is_torch else "mt_nn"
    layers = "torch.nn" if is_torch else "mt_nn"
    modules: list[Any] = [
        importlib.import_module(module)
        for module in (
            name,
            layers,
            f"{layers}.functional",
            f"{networks}.optim",
            f"{networks}.distributions",
        )
    ]
    tensors = modules[0]
    compiled = tensors.compile if compiles else _unchanged
    if not is_torch:
        return Library(*modules, step=compiled)
    tensors.set_num_threads(threads)
    return Library(*modules, is_torch=True, fastest={"fused": True}, network=compiled)


def environment(name: str, backend: str, threads: int) -> dict[str, str]:
    """Return the environment variables for a process of a side.

    On torch's side the project reads the data and the settings of its jobs. It uses NumPy there,
    as users of torch do: threads of compiled loops would compete with torch's.

    Args:
        name: the name of the side: "torch", or one of the project's.
        backend: the backend of the project's own side.
        threads: the number of threads.
    """
    counts = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    chosen = "numpy" if name.partition("+")[0] in ("torch", "jax") else backend
    xla = "" if threads > 1 else "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return dict.fromkeys(counts, str(threads)) | {"MT_BACKEND": chosen, "XLA_FLAGS": xla}
