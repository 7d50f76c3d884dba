"""`SyncBatchNorm`: batch normalization with the statistics of all shares of a batch.

Without it each rank normalizes its own share, and small shares have poor statistics.
"""

from __future__ import annotations

from typing import Any

import mt_operators
from mt_nn.errors import InputError
from mt_nn.layers.normalization import BatchNorm, scaled, update_running_statistics
from mt_nn.parallel.averaging import Packed, traveling
from mt_nn.parallel.group import Group
from mt_nn.parallel.world import world
from mt_tensor import Function, Tensor, empty_like
from mt_tensor.extending import wide


class SyncBatchNorm(BatchNorm):
    """Batch normalization over all ranks, for inputs of shape (batch, channels, ...); torch's.

    Args:
        num_features: as all others but the last, see `BatchNorm2d`.
        eps: see there.
        momentum: see there.
        affine: see there.
        track_running_stats: see there.
        process_group: the ranks; all of the program if None.
        dtype: see there.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Group | None = None,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype=dtype)
        self.process_group = world() if process_group is None else process_group

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape.

        Raises:
            InputError: the input has no channels, or in training there is a single value of each
                on all ranks together.
        """
        if input.ndim < 2 or input.shape[1] != self.num_features:
            raise InputError(
                f"SyncBatchNorm({self.num_features}) takes shape (batch, {self.num_features}, "
                f"...); {input.shape} was given."
            )
        if self.process_group.size == 1 or not self._uses_batch():
            return self._normalized(input)
        group, x = self.process_group, wide(input)
        dims = (0, *range(2, x.ndim))
        counts = group.gather(x.numel() // self.num_features, "number of values")
        if (count := sum(counts)) == 1:
            raise InputError("SyncBatchNorm in training needs more than one value of each channel.")
        mean = Sum.apply(x.sum(dims, keepdim=True), group) / max(count, 1)
        centered = x - mean
        variance = Sum.apply(centered.square().sum(dims, keepdim=True), group) / max(count, 1)
        normalized = (centered * (variance + self.eps).rsqrt()).to(input.dtype)
        if count:
            new = [each.detach().reshape(-1) for each in (mean, variance)]
            running = (self.running_mean, self.running_var)
            update_running_statistics(*running, new, count, self._next_momentum())
        return scaled(normalized, self.weight, self.bias)

    @classmethod
    def convert_sync_batchnorm(
        cls, module: mt_operators.Module, process_group: Group | None = None
    ) -> mt_operators.Module:
        """Return a model with such layers in the places of its batch norms, parameters kept."""
        if isinstance(module, BatchNorm) and not isinstance(module, SyncBatchNorm):
            names = ("num_features", "eps", "momentum", "affine", "track_running_stats")
            settings: dict[str, Any] = {name: getattr(module, name) for name in names}
            made = cls(**settings, process_group=process_group)
            made.weight, made.bias = module.weight, module.bias
            for name, buffer in module.named_buffers(recurse=False):
                made.register_buffer(name, buffer)
            return made.train(module.training)
        for name, child in module.named_children():
            setattr(module, name, cls.convert_sync_batchnorm(child, process_group))
        return module


class Sum(Function):
    """The sum of a tensor over all ranks. As all of them use it, so is its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        """Add up what all ranks give."""
        ctx.group = group
        packed = Packed([x.shape], traveling(x.dtype), x.backend)
        packed.put(0, x)
        group.sum(packed.buffer, "statistics of a batch")
        out = empty_like(x)
        packed.take(0, out)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Add up the gradients that all ranks have."""
        return Sum.apply(grad, ctx.group), None
