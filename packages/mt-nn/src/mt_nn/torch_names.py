"""Tensors and networks in one namespace, arranged as torch arranges its own.

A program that says `torch.zeros`, `torch.nn.Linear` and `torch.utils.data.DataLoader` keeps all of
its lines but the one that imports:

    import mt_nn.torch_names as torch

What of torch does not exist here is missing, and asking for it is an AttributeError.
"""

from types import SimpleNamespace
from typing import Any

import mt_nn as nn
import mt_tensor
from mt_nn import data, distributions, optim
from mt_nn.saving import load, save

__all__ = ["distributions", "load", "nn", "optim", "save", "utils"]

utils = SimpleNamespace(data=data)


def __getattr__(name: str) -> Any:
    """Return what is mt-tensor's."""
    return getattr(mt_tensor, name)
