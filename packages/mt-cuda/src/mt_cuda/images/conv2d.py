"""Convolution of images, and its gradients; `mt_cuda.images` has the kernels."""

from __future__ import annotations

from math import prod
from typing import Any

from mt_cuda.core.elements import computed
from mt_cuda.images import convolution, weights, windows
from mt_cuda.images.windows import Windows, convolved_size, countable
from mt_cuda.rows.kernels import planned, rows_along
from mt_cuda.tensors import elements_of, is_floating, new, numbers_of, ops_of, tensor_of
from mt_fast.extending import TransposedConvolution
from mt_tensor import Tensor
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved, Shape


class Convolution(FusedKernel):
    """Convolution; the arguments are images, kernels, biases or None, and the settings.

    The settings are stride, padding, dilation and groups.
    """

    def fits(self, *arguments: Any) -> bool:
        """Return whether the kernels support the arguments.

        Tensors must be non-empty and of one floating-point dtype, with sizes that fit 32-bit
        indices.
        """
        x, kernels, bias, stride, padding, dilation, _ = arguments
        size = convolved_size(x.shape[2:], kernels.shape[2:], stride, padding, dilation)
        out = (x.shape[0], kernels.shape[0], *size)
        return is_floating(x, kernels, bias) and countable(x.shape, kernels.shape, out, padding)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the convolved images."""
        x, kernels, bias, *settings, groups = arguments
        size = convolved_size(x.shape[2:], kernels.shape[2:], *settings)
        through = windows.forward(x.shape[2:], size, kernels.shape[2:], *settings)
        return _convolved(x, kernels, bias, through, groups), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of images, kernels and biases; None if not needed."""
        x, kernels, _, *settings, groups = arguments
        sizes = (x.shape[2:], grad.shape[2:], kernels.shape[2:])
        of_images = of_kernels = of_biases = None
        if needs[0]:
            through = windows.backward(*sizes, *settings)
            of_images = _convolved(grad, kernels, None, through, groups, transposed=True)
        if needs[1] or needs[2]:
            through = windows.forward(*sizes, *settings)
            of_kernels, of_biases = _summed(grad, x, kernels.shape, through, groups)
        return of_images, of_kernels, of_biases if needs[2] else None, None, None, None, None


def _convolved(
    source: Tensor,
    kernels: Tensor,
    bias: Tensor | None,
    through: Windows,
    groups: int,
    *,
    transposed: bool = False,
) -> Tensor:
    """Return the sums of products of the windows of a source and the kernels.

    Args:
        source: the images to read, shape (batch, channels, *sizes).
        kernels: the kernels of the convolution.
        bias: shape (channels of the result,), or None.
        through: the windows.
        groups: the number of groups of channels.
        transposed: whether the source has the channels of the convolution's result.
    """
    ops, dtype = ops_of(source), source.dtype
    outputs, inputs = kernels.shape[0] // groups, kernels.shape[1]
    channels = inputs if transposed else outputs
    out = new(source, (source.shape[0], groups * channels, *through.point))

    def plan() -> Any:
        points, taps = source.shape[0] * prod(through.point), prod(through.tap)
        rows = outputs if transposed else inputs
        tile = convolution.choose(points, channels, groups, computed(dtype), ops.machine.size)
        form = convolution.Convolution(
            dtype, tile, dilated=through.dilated, transposed=transposed, biased=bias is not None
        )
        steps = (inputs * taps, taps) if transposed else (taps, inputs * taps)
        sizes = {
            "points": points,
            "channels": channels,
            "source_channels": rows,
            "groups": groups,
            "weight_group": outputs * inputs * taps,
            "weight_row": steps[0],
            "weight_column": steps[1],
        }
        kernel = convolution.convolution(form)
        numbers = numbers_of(kernel, {**sizes, **through.numbers()})
        return ops.plan(kernel, (tile.blocks(points, channels, groups), 1), tile.threads, numbers)

    biased = bias is not None
    key = (
        "convolution",
        dtype,
        source.shape[0],
        kernels.shape,
        through,
        groups,
        transposed,
        biased,
    )
    given = [source, kernels, bias] if bias is not None else [source, kernels]
    ops.launch(ops.remembered(key, plan), [*map(elements_of, given), out])
    return tensor_of(out, source)


def _summed(
    grad: Tensor, source: Tensor, shape: Shape, through: Windows, groups: int
) -> tuple[Tensor, Tensor]:
    """Return the gradients of kernels and biases, in two launches.

    Args:
        grad: the upstream gradient of points, shape (batch, channels, *sizes).
        source: the images that their windows read.
        shape: the shape of the kernels.
        through: the windows.
        groups: the number of groups of channels.
    """
    ops, dtype = ops_of(grad), grad.dtype
    rows = prod(shape) + shape[0]

    def plan() -> Any:
        points = grad.shape[0] * prod(through.point)
        kernels, taps = shape[0] // groups, prod(shape[1:])
        cut = weights.choose(kernels, taps + 1, groups, points, ops.machine.size)
        kernel = weights.partial_sums(dtype, cut.tile)
        sizes = {
            "points": points,
            "kernels": kernels,
            "source_channels": shape[1],
            "groups": groups,
            "span": cut.span,
        }
        numbers = numbers_of(kernel, {**sizes, **through.numbers()})
        first = ops.plan(kernel, (cut.tiles, cut.parts), cut.tile.threads, numbers)
        return first, cut.parts

    key = ("convolution_weights", dtype, grad.shape[0], shape, through, groups)
    first, parts = ops.remembered(key, plan)
    partial = new(grad, (parts, rows), computed(dtype))
    recipe, layout = (weights.added_parts, dtype), rows_along(partial.shape, 0)
    second = planned(ops, recipe, layout, counts=(prod(shape),))
    of_kernels, of_biases = new(grad, shape), new(grad, shape[:1])
    ops.launch(first, [elements_of(grad), elements_of(source), partial])
    ops.launch(second, [partial, of_kernels, of_biases])
    return tensor_of(of_kernels, grad), tensor_of(of_biases, grad)


CONVOLUTION = Convolution()

KERNELS = {"conv2d": CONVOLUTION, "conv_transpose2d": TransposedConvolution(CONVOLUTION)}
"""For `mt_tensor.extending.register_kernels`."""
