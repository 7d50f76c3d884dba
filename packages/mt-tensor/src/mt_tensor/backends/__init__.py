"""Backends: where elements live and how loops over them run.

`contract` says what a backend is, `registry` finds and chooses one, `simple` and `numpy` are the
two that are built in. `python -m mt_tensor.backends --probe` lists what is installed.
"""

from mt_tensor.core.contract import TensorBackend as TensorBackend
from mt_tensor.core.kernels import register_kernels as register_kernels
from mt_tensor.core.registry import (
    BackendInfo as BackendInfo,
    backends as backends,
    current_backend as current_backend,
    get_backend as get_backend,
    register_backend as register_backend,
    use_backend as use_backend,
)
