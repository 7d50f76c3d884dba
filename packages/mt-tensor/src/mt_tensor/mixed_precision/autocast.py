"""`autocast`: which operations of a block are computed in 16 bits, and which in float32.

The names are torch's, and so are the lists, one for the CPU and one for GPUs; but products called
by another name than `matmul` that are made of it, such as `mv`, are computed in 16 bits on both.
What stands in neither list takes the types of its arguments as they come: a number of 16 bits and
one of float32 give float32.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from contextvars import Token
from typing import Any, ParamSpec, TypeVar

from mt_tensor.core.arguments import check_flags
from mt_tensor.core.dtypes import DType, as_dtype, bfloat16, float16
from mt_tensor.core.extensions import BLOCKS
from mt_tensor.errors import DomainError, DTypeError
from mt_tensor.mixed_precision.precision import Kept, Precision, asked

P = ParamSpec("P")
R = TypeVar("R")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LOWER = _names("""
    addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d linear matmul mm prelu scaled_dot_product_attention
""")
"""What is computed in 16 bits everywhere."""

LOWER_ON_GPUS = LOWER | _names("addmv addr chain_matmul einsum multi_dot mv vecdot")

LOSSES = _names("""
    binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss
    hinge_embedding_loss huber_loss l1_loss margin_ranking_loss mse_loss multi_margin_loss
    multilabel_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss
    triplet_margin_loss ctc_loss kl_div gaussian_nll_loss cross_entropy
""")

FLOAT32 = LOSSES | _names("avg_pool3d bilinear")
"""What is computed in float32 on the CPU."""

FLOAT32_ON_GPUS = LOSSES | _names("""
    acos asin bilinear cdist cosh cosine_similarity cumprod cumsum dist erfinv exp expm1 group_norm
    inv layer_norm log log10 log1p log2 log_softmax logsumexp norm normalize pairwise_distance pdist
    pow prod reciprocal renorm rms_norm rsqrt sinh softmax softmin softplus sum tan
""")

ROUNDED_ON_GPUS = _names("batch_norm instance_norm")
"""What has parameters of float32, and gives back the type that it was given."""

ROUNDED = ROUNDED_ON_GPUS | _names("group_norm layer_norm rms_norm")

DEVICES = {
    "cpu": (bfloat16, LOWER, FLOAT32, ROUNDED),
    "cuda": (float16, LOWER_ON_GPUS, FLOAT32_ON_GPUS, ROUNDED_ON_GPUS),
}
"""For each kind of device: the type of 16 bits that nothing else decides, and the lists."""

_lock = threading.Lock()


def _checked(device_type: Any) -> str:
    """Return the name of a kind of device.

    Raises:
        TypeError: it is no string.
        DomainError: there is no such kind.
    """
    if not isinstance(device_type, str):
        raise TypeError(f"device_type is a string, as in autocast('cpu'); got {device_type!r}.")
    if device_type not in DEVICES:
        raise DomainError(
            f"autocast() knows the devices {' and '.join(map(repr, DEVICES))}; {device_type!r} was "
            "given."
        )
    return device_type


class autocast:  # noqa: N801 - torch's name
    """Let products be computed in 16 bits, and losses and the like in float32, inside of a block.

        with mt.autocast("cpu", dtype=mt.bfloat16):
            loss = criterion(model(images), labels)
        loss.backward()

    Parameters stay in float32, and so do their gradients. `@autocast("cpu")` makes a function such
    a block. Blocks may be nested: the innermost decides, also with `enabled=False`. A block holds
    for its thread or task. Leave out `backward()`: each gradient has the type of what it belongs
    to.

    Args:
        device_type: "cpu" or "cuda": where the tensors are that this is about.
        dtype: bfloat16 or float16; if None, bfloat16 on the CPU, and float16 on a GPU.
        enabled: whether to do so.
        cache_enabled: whether parameters are converted once in the outermost block; True if None.

    Raises:
        DomainError: there is no such device.
        DTypeError: `dtype` is neither of the two.
        TypeError: `device_type` is no string, or a flag is neither True nor False.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.device = _checked(device_type)
        check_flags(enabled=enabled, cache_enabled=cache_enabled is None or cache_enabled)
        self.fast_dtype = DEVICES[device_type][0] if dtype is None else as_dtype(dtype)
        if not self.fast_dtype.is_narrow:
            raise DTypeError(
                f"autocast() computes in bfloat16 or float16; {self.fast_dtype.name} was given."
            )
        self._enabled = enabled
        self._keeps = cache_enabled is not False
        self._entered: list[Token[Mapping[str, Precision | None]]] = []

    def __enter__(self) -> autocast:
        """Begin the block."""
        outer = asked.get()
        _, lower, float32, rounded = DEVICES[self.device]
        kept: Kept | None = {} if self._keeps else None
        for other in outer.values():
            if other is not None and other.kept is not None and self._keeps:
                kept = other.kept
        mine = Precision(self.fast_dtype, lower, float32, rounded, kept) if self._enabled else None
        self._entered.append(asked.set({**outer, self.device: mine}))
        with _lock:
            BLOCKS.count += 1
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        with _lock:
            BLOCKS.count -= 1
        asked.reset(self._entered.pop())

    def __call__(self, func: Callable[P, R]) -> Callable[P, R]:
        """Return a function whose calls are such blocks."""

        @functools.wraps(func)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            with autocast(self.device, self.fast_dtype, self._enabled, self._keeps):
                return func(*args, **kwargs)

        return called


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether this is inside of a block of `autocast` for such a device."""
    return asked.get().get(_checked(device_type)) is not None


def get_autocast_dtype(device_type: str) -> DType:
    """Return the type of 16 bits that `autocast` uses on such a device now, or else would use."""
    now = asked.get().get(_checked(device_type))
    return DEVICES[device_type][0] if now is None else now.dtype
