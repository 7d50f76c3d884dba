"""Stage 2: tensors, with operators over strided storage, and the contract that backends fulfil.

`Tensor` has torch's names and rules. Where its elements live, and how loops over them run, is the
business of a backend: `numpy` by default, `simple` to read, others from other packages.

Operations say themselves how users call them (`mt_tensor.public`); their files are imported when
somebody asks for one of them (`mt_tensor.library.deferred`). What users find here is written down
for type checkers in `__init__.pyi`, by `hatch run mt declare`.
"""

import builtins as _builtins
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from mt_autodiff import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from mt_tensor import errors
from mt_tensor.backends import (
    TensorBackend,
    backends,
    current_backend,
    get_backend,
    register_backend,
    use_backend,
)
from mt_tensor.backends.devices import device
from mt_tensor.dtypes import (
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    result_type,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from mt_tensor.library import deferred as _deferred
from mt_tensor.recording.function import Function
from mt_tensor.size import Size
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData

__version__ = "0.1.0"

bool, double, float, half, int, long, short = bool_, float64, float32, float16, int32, int64, int16

del tensor  # noqa: F821 - the file: users find the function `tensor`

_MODULES = ("autograd", "cuda", "errors", "linalg")


def __getattr__(name: str) -> object:
    """Return what is imported when it is asked for."""
    if name in _deferred.MODULE_OF:
        value = _deferred.imported(name)
    elif name in _MODULES:
        value = _import_module(f"mt_tensor.{name}")
    else:
        raise AttributeError(f"module 'mt_tensor' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return all names, imported or not."""
    return sorted({*globals(), *_deferred.MODULE_OF, *_MODULES})


__all__ = [
    name
    for name in sorted({*globals(), *_deferred.MODULE_OF, *_MODULES} - {*dir(_builtins)})
    if name in ("__version__", *_MODULES)
    or not (name.startswith("_") or isinstance(globals().get(name), _ModuleType))
]
