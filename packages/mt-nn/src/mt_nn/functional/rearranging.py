"""Elements moved between channels and space."""

from __future__ import annotations

from mt_nn.core.arguments import checked
from mt_nn.core.settings import integer
from mt_nn.errors import InputError
from mt_tensor import Tensor
from mt_tensor.extending import apart


@checked
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Lay out channels as blocks of pixels (Shi et al. 2016, equation 4).

    Args:
        input: shape (*batch, channels r^2, height, width), where r is the factor.
        upscale_factor: height and width of a block.

    Returns:
        Shape (*batch, channels, height r, width r); undoes `pixel_unshuffle`.

    Raises:
        InputError: the channels cannot be laid out so.
        SettingError: the factor is invalid.
    """
    r = integer("upscale_factor", upscale_factor, 1)
    if input.ndim < 3 or input.shape[-3] % r**2:
        raise InputError(
            f"pixel_shuffle() by {r} takes images of shape (..., channels, height, width) with a "
            f"multiple of {r**2} channels; shape {input.shape} was given."
        )
    *batch, channels, height, width = input.shape
    blocks = input.reshape(*batch, channels // r**2, r, r, height, width)
    n = len(batch)
    blocks = blocks.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return apart(blocks.reshape(*batch, channels // r**2, height * r, width * r), input)


@checked
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Make channels of the pixels of each block.

    Args:
        input: shape (*batch, channels, height r, width r), where r is the factor.
        downscale_factor: height and width of a block.

    Returns:
        Shape (*batch, channels r^2, height, width); undoes `pixel_shuffle`.

    Raises:
        InputError: the images are not made of such blocks.
        SettingError: the factor is invalid.
    """
    r = integer("downscale_factor", downscale_factor, 1)
    if input.ndim < 3 or input.shape[-2] % r or input.shape[-1] % r:
        raise InputError(
            f"pixel_unshuffle() by {r} takes images of shape (..., channels, height, width) with "
            f"height and width that are multiples of {r}; shape {input.shape} was given."
        )
    *batch, channels, height, width = input.shape
    blocks = input.reshape(*batch, channels, height // r, r, width // r, r)
    n = len(batch)
    blocks = blocks.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return apart(blocks.reshape(*batch, channels * r**2, height // r, width // r), input)


@checked
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Take one channel of each group in turn (Zhang et al., ShuffleNet, 2018, section 3.1).

    Args:
        input: shape (batch, channels, *rest), of at least three dimensions.
        groups: into how many groups the channels are split.

    Returns:
        The shape of the input.

    Raises:
        InputError: the channels cannot be split so.
        SettingError: the number of groups is invalid.
    """
    groups = integer("groups", groups, 1)
    if input.ndim < 3 or input.shape[1] % groups:
        raise InputError(
            f"channel_shuffle() takes shape (batch, channels, ...) of at least three dimensions "
            f"with a multiple of {groups} channels; shape {input.shape} was given."
        )
    batch, channels, *rest = input.shape
    split = input.reshape(batch, groups, channels // groups, *rest)
    return apart(split.transpose(1, 2).reshape(input.shape), input)
