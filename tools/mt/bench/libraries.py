"""The two sides under one set of names: tensors, functions, layers and optimizers.

torch's names are the project's, so that a program is written once; only modules are called
otherwise.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def _as_it_is(made: Any) -> Any:
    return made


@dataclass(frozen=True)
class Library:
    """What a side offers.

    Attributes:
        tensors: the module of tensors and operations on them.
        nn: that of layers.
        functional: that of the functions of networks.
        optim: that of optimizers.
        distributions: that of probability distributions.
        fastest: what to tell an optimizer, so that it takes its fastest way.
        step: what makes of a step the one that is run.
        network: what makes of a network the one that is run.
    """

    tensors: Any
    nn: Any
    functional: Any
    optim: Any
    distributions: Any
    fastest: dict[str, bool]
    step: Callable[[Any], Any] = _as_it_is
    network: Callable[[Any], Any] = _as_it_is


def library(name: str, threads: int) -> Library:
    """Return a side by the name of its module of tensors, on a number of threads.

    `torch+compile` compiles networks, and `mt_tensor+compile` whole steps.
    """
    name, _, compiles = name.partition("+")
    tensors: Any = importlib.import_module(name)
    is_torch = name == "torch"
    if is_torch:
        tensors.set_num_threads(threads)
    networks = "torch" if is_torch else "mt_nn"
    layers = "torch.nn" if is_torch else networks
    nn: Any = importlib.import_module(layers)
    functional: Any = importlib.import_module(f"{layers}.functional")
    optim: Any = importlib.import_module(f"{networks}.optim")
    distributions: Any = importlib.import_module(f"{networks}.distributions")
    fastest = {"fused": True} if is_torch else {}
    ways: dict[str, Any] = {}
    if compiles:
        ways = {"network" if is_torch else "step": tensors.compile}
    return Library(tensors, nn, functional, optim, distributions, fastest, **ways)


def environment(name: str, backend: str, threads: int) -> dict[str, str]:
    """Return the variables that a process of a side is started with.

    Beside torch, the project reads data and knows the settings of its jobs. It does so with NumPy,
    as users of torch do: compiled loops have threads of their own, which would fight with torch's.

    Args:
        name: the side's: "torch", or one of the project's.
        backend: with which the project computes on its own side.
        threads: how many a side may use.
    """
    counts = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    chosen = "numpy" if name.partition("+")[0] in ("torch", "jax") else backend
    xla = "" if threads > 1 else "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return dict.fromkeys(counts, str(threads)) | {"MT_BACKEND": chosen, "XLA_FLAGS": xla}
