"""The names of mt-tensor and mt-nn in one tree of modules, as in torch.

In a program written for torch, only the imports have to be changed:

    import mt_nn.torch_names as torch
    import mt_nn.torch_names.nn.functional as F
    from mt_nn.torch_names.utils.data import DataLoader

Each module of this folder re-exports the classes and functions of mt-tensor and mt-nn that are in
the module of torch with its name. Submodules are imported at the first access. For a name that is
left out, an error suggests what to use instead; see `left_out.py`.
"""

# fmt: off
from math import e, inf, nan, pi
from typing import TYPE_CHECKING

from mt_nn import __version__
from mt_nn.saving import load, save
from mt_nn.torch_names import _mirror
from mt_nn.torch_names._functions import embedding, fill, frombuffer, relu_
from mt_nn.torch_names._settings import use_deterministic_algorithms

if TYPE_CHECKING:
    from mt_nn.torch_names import (
        amp, ao, autograd, backends, cuda, distributions, func, linalg, nn, onnx, optim, profiler,
        quantization, random, special, testing, utils, version,
    )

from mt_tensor import *  # type: ignore[no-redef]  # its function `backends` is replaced by a module
from mt_tensor import DType as dtype  # noqa: N813 - the name of torch
from mt_tensor import int8 as qint8
from mt_tensor import (
    abs as abs, all as all, any as any, bool as bool, compile as compile, float as float,
    int as int, max as max, min as min, pow as pow, round as round, sum as sum,
)
from mt_tensor.autograd.func import vmap
from mt_tensor.creation.formats import layout, memory_format
from mt_tensor.extending import seed

newaxis = None
strided = layout.strided
contiguous_format, preserve_format = memory_format.contiguous_format, memory_format.preserve_format
channels_last, channels_last_3d = memory_format.channels_last, memory_format.channels_last_3d

_mirror.finish(__name__)
