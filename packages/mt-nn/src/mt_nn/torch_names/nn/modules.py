"""`torch.nn.modules`: the classes of `torch.nn`."""

from typing import TYPE_CHECKING

import mt_nn

if TYPE_CHECKING:
    from mt_nn import *
else:  # only the classes, because torch.nn has no `limits` or `summary`
    globals().update({name: getattr(mt_nn, name) for name in mt_nn.__all__ if name[0].isupper()})
