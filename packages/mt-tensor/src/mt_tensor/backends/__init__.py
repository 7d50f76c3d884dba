"""Backends: where elements live and how loops over them run.

`mt_tensor.core.contract` says what a backend is, `listing` lists those that are installed, and
`extending` has the parts that backends in other packages are made of.
`python -m mt_tensor.backends --probe` tries each.
"""

from mt_tensor.backends.listing import backends as backends, register_backend as register_backend
from mt_tensor.core.contract import TensorBackend as TensorBackend
from mt_tensor.core.kernels import register_kernels as register_kernels
from mt_tensor.core.registry import (
    BackendInfo as BackendInfo,
    current_backend as current_backend,
    get_backend as get_backend,
    use_backend as use_backend,
)
