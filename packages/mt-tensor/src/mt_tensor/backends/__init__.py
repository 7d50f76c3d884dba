"""Backends: the storage of elements, and the loops over them.

`mt_tensor.core.contract` defines the interface, `listing` lists the installed backends, and
`extending` exports building blocks for backends in other packages.
`python -m mt_tensor.backends --probe` tries to load each.
"""

from mt_tensor.backends.listing import (
    BackendInfo as BackendInfo,
    backends as backends,
    register_backend as register_backend,
)
from mt_tensor.core.contract import TensorBackend as TensorBackend
from mt_tensor.core.kernels import register_kernels as register_kernels
from mt_tensor.core.registry import (
    current_backend as current_backend,
    get_backend as get_backend,
    use_backend as use_backend,
)
