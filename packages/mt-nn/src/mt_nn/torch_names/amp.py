"""`torch.amp`: mixed precision."""

from mt_nn import GradScaler
from mt_tensor import autocast
