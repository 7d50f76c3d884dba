"""`SyncBatchNorm`: batch normalization with the statistics of the batches of all ranks.

Without it, each rank normalizes its own part of the batch, whose statistics are less accurate.
"""

from __future__ import annotations

from typing import Any

import mt_operators
from mt_nn.errors import InputError
from mt_nn.layers.normalization import BatchNorm, scaled, update_running_statistics
from mt_nn.parallel.averaging import Packed, transfer_dtype
from mt_nn.parallel.group import Group
from mt_nn.parallel.world import world
from mt_tensor import Function, Tensor, empty_like
from mt_tensor.extending import wide


class SyncBatchNorm(BatchNorm):
    """Batch normalization over all ranks, for inputs of shape (batch, channels, ...), as in torch.

    Args:
        num_features, eps, momentum, affine, track_running_stats, dtype: see `BatchNorm2d`.
        process_group: the ranks; all ranks of the program if None.
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
        """Normalize the input, and return a tensor of the same shape.

        Raises:
            InputError: the input has another number of channels, or in training a single value per
                channel on all ranks together.
        """
        if input.ndim < 2 or input.shape[1] != self.num_features:
            raise InputError(
                f"SyncBatchNorm({self.num_features}) takes shape (batch, {self.num_features}, "
                f"...); {input.shape} was given."
            )
        running_mean, running_var, uses_batch = self._statistics()
        if self.process_group.size == 1 or not uses_batch:
            return self._normalized(input)
        group, x = self.process_group, wide(input)
        dims = (0, *range(2, x.ndim))
        counts = group.gather(x.numel() // self.num_features, "number of values")
        if (count := sum(counts)) == 1:
            raise InputError(
                "SyncBatchNorm in training takes more than one value per channel; got one from all "
                "ranks together."
            )
        mean = Sum.apply(x.sum(dims, keepdim=True), group) / max(count, 1)
        centered = x - mean
        variance = Sum.apply(centered.square().sum(dims, keepdim=True), group) / max(count, 1)
        normalized = (centered * (variance + self.eps).rsqrt()).to(input.dtype)
        if count:
            new = [each.detach().reshape(-1) for each in (mean, variance)]
            momentum = self._next_momentum()
            update_running_statistics(running_mean, running_var, new, count, momentum)
        return scaled(normalized, self.weight, self.bias)

    @classmethod
    def convert_sync_batchnorm(
        cls, module: mt_operators.Module, process_group: Group | None = None
    ) -> mt_operators.Module:
        """Replace all batch normalization layers of a model, and return the model.

        Args:
            module: the model; if it is a batch normalization layer, the new layer is returned.
            process_group: the ranks that share statistics; see `SyncBatchNorm`.
        """
        if isinstance(module, BatchNorm) and not isinstance(module, SyncBatchNorm):
            names = ("num_features", "eps", "momentum", "affine", "track_running_stats")
            settings: dict[str, Any] = {name: getattr(module, name) for name in names}
            layer = cls(**settings, process_group=process_group)
            layer.weight, layer.bias = module.weight, module.bias
            for name, buffer in module.named_buffers(recurse=False):
                layer.register_buffer(name, buffer)
            return layer.train(module.training)
        for name, child in module.named_children():
            setattr(module, name, cls.convert_sync_batchnorm(child, process_group))
        return module


class Sum(Function):
    """The sum of a tensor over all ranks; its gradient is the sum of all ranks' gradients."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        """Return the sum."""
        ctx.group = group
        packed = Packed([x.shape], transfer_dtype(x.dtype), x.backend)
        packed.put(0, x)
        group.sum(packed.buffer, "statistics of a batch")
        out = empty_like(x)
        packed.take(0, out)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return the sum of the gradients."""
        return Sum.apply(grad, ctx.group), None
