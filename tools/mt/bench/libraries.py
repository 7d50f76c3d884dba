"""The modules of the two libraries under the same names: tensors, functions, layers, optimizers.

The project has torch's names, so that a program is written once; only the modules differ.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
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
    is_torch: bool
    fastest: dict[str, bool]
    step: Callable[[Any], Any]
    network: Callable[[Any], Any]

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
    """Return the library whose module of tensors has this name; limit torch to some threads.

    `torch+compile` compiles networks, and `mt_tensor+compile` whole steps. For this project, the
    variables of `environment` limit the threads.
    """
    name, _, compiles = name.partition("+")
    is_torch = name == "torch"
    networks, layers = ("torch", "torch.nn") if is_torch else ("mt_nn", "mt_nn")
    tensors: Any = importlib.import_module(name)
    compiled = tensors.compile if compiles else _unchanged
    if is_torch:
        tensors.set_num_threads(threads)
    return Library(
        tensors,
        nn=importlib.import_module(layers),
        functional=importlib.import_module(f"{layers}.functional"),
        optim=importlib.import_module(f"{networks}.optim"),
        distributions=importlib.import_module(f"{networks}.distributions"),
        is_torch=is_torch,
        fastest={"fused": True} if is_torch else {},
        step=_unchanged if is_torch else compiled,
        network=compiled if is_torch else _unchanged,
    )


def environment(name: str, backend: str, threads: int) -> dict[str, str]:
    """Return the environment variables for a process of a side.

    In the processes of torch and JAX, the project reads the data and the settings of its jobs. It
    uses its NumPy backend there, because threads of compiled loops would compete with theirs.

    Args:
        name: the name of the side, such as "torch", "jax" or "mt_tensor+compile".
        backend: the backend of the project's own side.
        threads: the number of threads.
    """
    counts = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    chosen = "numpy" if name.partition("+")[0] in ("torch", "jax") else backend
    xla = "" if threads > 1 else "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return dict.fromkeys(counts, str(threads)) | {"MT_BACKEND": chosen, "XLA_FLAGS": xla}
