"""Tensors and networks in one tree of names, arranged as torch arranges its own.

A program that was written for torch keeps all of its lines but those that import:

    import mt_nn.torch_names as torch
    import mt_nn.torch_names.nn.functional as F
    from mt_nn.core.loader import DataLoader

Each module of this folder has a name of torch's and re-exports what mt-tensor and mt-nn have under
its names: the same classes and functions, in no second copy. Modules are imported when they are
first asked for. What of torch is left out says so, and what to use instead: see `left_out.py`.
"""

from math import e, inf, nan, pi
from typing import TYPE_CHECKING

from mt_nn import __version__
from mt_nn.saving import load, save
from mt_nn.torch_names import _mirror
from mt_nn.torch_names._settings import use_deterministic_algorithms

if TYPE_CHECKING:
    from mt_nn.torch_names import (
        amp,
        autograd,
        backends,
        cuda,
        distributions,
        linalg,
        nn,
        optim,
        random,
        special,
        testing,
        utils,
        version,
    )

from mt_tensor import *  # type: ignore[no-redef]  # its function `backends` gives way to a module
from mt_tensor import DType as dtype  # noqa: N813 - the name of torch
from mt_tensor import abs as abs
from mt_tensor import all as all
from mt_tensor import any as any
from mt_tensor import bool as bool
from mt_tensor import compile as compile
from mt_tensor import float as float
from mt_tensor import int as int
from mt_tensor import max as max
from mt_tensor import min as min
from mt_tensor import pow as pow
from mt_tensor import round as round
from mt_tensor import sum as sum
from mt_tensor.extending import seed

newaxis = None

_mirror.finish(__name__)
