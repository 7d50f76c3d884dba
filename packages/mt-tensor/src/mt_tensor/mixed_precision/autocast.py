"""`autocast`: run some operations of a block in 16-bit floats, and others in float32.

The lists of operations are those of torch, one for the CPU and one for GPUs; but products that are
composed of `matmul`, such as `mv`, are computed in 16 bits on both. Operations in neither list use
the promoted dtype of their arguments.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Token
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from mt_tensor.core.arguments import check_flags
from mt_tensor.core.dtypes import DType, as_dtype, bfloat16, float16
from mt_tensor.core.extensions import AUTOCAST_BLOCKS
from mt_tensor.errors import DomainError, DTypeError
from mt_tensor.mixed_precision.precision import CastCache, Precision, active_precisions

P = ParamSpec("P")
R = TypeVar("R")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LOWER = _names("""
    addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d linear matmul mm prelu scaled_dot_product_attention
""")
"""Operations in 16 bits on all devices."""

LOWER_ON_GPUS = LOWER | _names("addmv addr chain_matmul einsum multi_dot mv vecdot")

LOSSES = _names("""
    binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss
    hinge_embedding_loss huber_loss l1_loss margin_ranking_loss mse_loss multi_margin_loss
    multilabel_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss
    triplet_margin_loss ctc_loss kl_div gaussian_nll_loss cross_entropy
""")

FLOAT32 = LOSSES | _names("avg_pool3d bilinear")
"""Operations in float32 on the CPU."""

FLOAT32_ON_GPUS = LOSSES | _names("""
    acos asin bilinear cdist cosh cosine_similarity cumprod cumsum dist erfinv exp expm1 group_norm
    inv layer_norm log log10 log1p log2 log_softmax logsumexp norm normalize pairwise_distance pdist
    pow prod reciprocal renorm rms_norm rsqrt sinh softmax softmin softplus sum tan
""")

ROUNDED_ON_GPUS = _names("batch_norm instance_norm")
"""Operations in float32 whose result has the dtype of the input."""

ROUNDED = ROUNDED_ON_GPUS | _names("group_norm layer_norm rms_norm")

DEVICES = {
    "cpu": (bfloat16, LOWER, FLOAT32, ROUNDED),
    "cuda": (float16, LOWER_ON_GPUS, FLOAT32_ON_GPUS, ROUNDED_ON_GPUS),
}
"""For each device type: the default 16-bit dtype, and the lists."""

_lock = threading.Lock()


def _checked(name: str, device_type: Any) -> str:
    """Check a device type, and return it.

    Raises:
        TypeError: it is not a string.
        DomainError: it is not supported.
    """
    if not isinstance(device_type, str):
        raise TypeError(
            f"{name}(): device_type must be a string, such as 'cpu'; {device_type!r} was given."
        )
    if device_type not in DEVICES:
        raise DomainError(
            f"{name}() supports the device types {' and '.join(map(repr, DEVICES))}; "
            f"{device_type!r} was given."
        )
    return device_type


class autocast:  # noqa: N801 - torch's name
    """In a `with` block, compute products in 16-bit floats, and losses and the like in float32.

        with mt.autocast("cpu", dtype=mt.bfloat16):
            loss = criterion(model(images), labels)
        loss.backward()

    Parameters and their gradients remain in float32. `@autocast("cpu")` runs a function in such a
    block. Of nested blocks, the innermost applies, even with `enabled=False`. A block applies to
    its thread or task. Call `backward()` outside: gradients have the dtypes of their tensors.

    Args:
        device_type: "cpu" or "cuda", the device of the tensors to which the block applies.
        dtype: bfloat16 or float16; by default bfloat16 on the CPU, and float16 on a GPU.
        enabled: whether to convert.
        cache_enabled: whether to convert parameters only once per outermost block; True if None.

    Raises:
        DomainError: `device_type` is not supported.
        DTypeError: `dtype` is neither bfloat16 nor float16.
        TypeError: `device_type` is not a string, or a flag is not a bool.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.device = _checked("autocast", device_type)
        check_flags(enabled=enabled, cache_enabled=cache_enabled is None or cache_enabled)
        self.fast_dtype = DEVICES[device_type][0] if dtype is None else as_dtype(dtype)
        if not self.fast_dtype.is_narrow:
            raise DTypeError(
                f"autocast() computes in bfloat16 or float16; {self.fast_dtype.name} was given."
            )
        self._enabled = enabled
        self._caches = cache_enabled is not False
        self._entered: list[Token[Mapping[str, Precision | None]]] = []

    def __enter__(self) -> autocast:
        """Enter the block."""
        outer = active_precisions.get()
        _, lower, float32, rounded = DEVICES[self.device]
        cache: CastCache | None = {} if self._caches else None
        for other in outer.values():
            if other is not None and other.cache is not None and self._caches:
                cache = other.cache
        precision = (
            Precision(self.fast_dtype, lower, float32, rounded, cache) if self._enabled else None
        )
        self._entered.append(active_precisions.set({**outer, self.device: precision}))
        with _lock:
            AUTOCAST_BLOCKS.count += 1
        return self

    def __exit__(self, *_: object) -> None:
        """Exit the block."""
        with _lock:
            AUTOCAST_BLOCKS.count -= 1
        active_precisions.reset(self._entered.pop())

    def __call__(self, func: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function to run in such a block."""

        @functools.wraps(func)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            with autocast(self.device, self.fast_dtype, self._enabled, self._caches):
                return func(*args, **kwargs)

        return called


@contextmanager
def recasting() -> Iterator[None]:
    """Convert parameters again in a `with` block, under `autocast` blocks that may have ended.

    Use this for calls that are repeated in a copy of the context of the first call.
    """
    precisions = active_precisions.get()
    if not precisions:
        yield
        return
    uncached = {key: each and replace(each, cache=None) for key, each in precisions.items()}
    token = active_precisions.set(uncached)
    with _lock:
        AUTOCAST_BLOCKS.count += 1
    try:
        yield
    finally:
        with _lock:
            AUTOCAST_BLOCKS.count -= 1
        active_precisions.reset(token)


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Return whether an `autocast` block for a device type is active.

    Raises:
        DomainError: the device type is not supported.
    """
    return active_precisions.get().get(_checked("is_autocast_enabled", device_type)) is not None


def get_autocast_dtype(device_type: str) -> DType:
    """Return the 16-bit dtype of the active `autocast` block for a device type, or the default.

    Raises:
        DomainError: the device type is not supported.
    """
    now = active_precisions.get().get(_checked("get_autocast_dtype", device_type))
    return DEVICES[device_type][0] if now is None else now.dtype
