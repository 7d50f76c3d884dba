"""Layers of transposed convolution, which undo the change of size that a convolution makes."""

from __future__ import annotations

from collections.abc import Sequence

from mt_nn.core.convolution import Kernels
from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch
from mt_nn.errors import SettingError
from mt_nn.functional.transposed import (
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    transposed_sizes,
)
from mt_tensor import Tensor


class TransposedConvolution(Kernels):
    """What transposed convolutions share: how they find the size of their output."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
    ) -> None:
        if padding_mode != "zeros":
            raise SettingError(
                f"{type(self).__name__} takes padding_mode 'zeros' alone; got {padding_mode!r}."
            )
        super().__init__(
            in_channels, out_channels, kernel_size, stride, dilation, groups, bias, padding_mode
        )
        self.padding = integers("padding", padding, self.dims, 0)
        self.output_padding = integers("output_padding", output_padding, self.dims, 0)

    def _channels(self) -> tuple[int, int]:
        return self.in_channels, self.out_channels // self.groups

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return shape (batch, out_channels, *sizes).

        Args:
            input: shape (batch, in_channels, *sizes), or without the batch.
            output_size: the sizes of the output, perhaps after batch and channels; None for those
                that `output_padding` makes. They may exceed those without it by less than the
                stride.

        Raises:
            InputError: the input does not fit.
            SettingError: the output cannot have that size.
        """
        added = self.output_padding
        if output_size is not None:
            added = self._added(input, tuple(output_size))
        return self.function(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups,
            self.dilation,
        )  # fmt: skip

    def _added(self, input: Tensor, output_size: tuple[int, ...]) -> tuple[int, ...]:
        """Return the output padding for an output of a given size."""
        extents = as_batch(type(self).__name__, input, self.dims).shape[2:]
        least = transposed_sizes(
            extents, self.kernel_size, self.stride, self.padding, self.dilation
        )
        if len(output_size) == input.ndim:
            output_size = output_size[-self.dims :]
        size = integers("output_size", output_size, self.dims, 0)
        added = tuple(wanted - extent for wanted, extent in zip(size, least, strict=True))
        if any(not 0 <= more < step for more, step in zip(added, self.stride, strict=True)):
            raise SettingError(
                f"output_size must be from {least} on and exceed it by less than the stride "
                f"{self.stride}, for an input of shape {input.shape}; got {output_size}."
            )
        return added


class ConvTranspose1d(TransposedConvolution):
    """Kernels laid down for each element of signals; see `mt_nn.functional.conv_transpose1d`.

    Arguments and attributes are those of `ConvTranspose2d`, with one size instead of two.
    """

    dims = 1
    function = staticmethod(conv_transpose1d)


class ConvTranspose2d(TransposedConvolution):
    """Kernels laid down for each element of images; see `mt_nn.functional.conv_transpose2d`.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: height and width of the kernels.
        stride: distance between the positions of kernels.
        padding: how much of the result is cut off on each side.
        output_padding: how much is added to the end, less than the stride or the dilation.
        groups: into how many independent parts the channels are split.
        bias: whether to add a bias to each channel.
        dilation: how far apart the elements of a kernel are.
        padding_mode: "zeros", the only one there is.

    Attributes:
        weight: shape (in_channels, out_channels / groups, kernel height, kernel width).
        bias: shape (out_channels,), or None.
    """

    dims = 2
    function = staticmethod(conv_transpose2d)


class ConvTranspose3d(TransposedConvolution):
    """Kernels laid down for each element of volumes; see `mt_nn.functional.conv_transpose3d`.

    Arguments and attributes are those of `ConvTranspose2d`, with three sizes instead of two.
    """

    dims = 3
    function = staticmethod(conv_transpose3d)
