"""Stage 5: networks, from layers and losses to data and training.

The names are torch's. Everything is composed from the operations of mt-tensor, and is fast where
the backend offers a kernel for it. Which names there are stands in `__init__.pyi`.
"""

from mt_nn.names import offered
from mt_tensor.backends import register_kernels

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = offered(__name__)
__all__ += ["__version__"]

register_kernels("numpy", "mt_nn.kernels.numpy")
