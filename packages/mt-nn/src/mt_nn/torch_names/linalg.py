"""`torch.linalg`: linear algebra."""

from mt_tensor.linalg import *
