"""`torch.nn.modules`: the classes of `torch.nn`."""

from typing import TYPE_CHECKING

import mt_nn
from mt_nn.torch_names import _mirror

if TYPE_CHECKING:
    from mt_nn import *
else:  # only the classes: all of mt_nn would import what many programs do without
    globals().update({n: value for n, value in vars(mt_nn).items() if isinstance(value, type)})

_mirror.finish(__name__)
