"""Attention, and its gradients; `mt_cuda.attention` has the kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mt_cuda.attention import kernels, tiles
from mt_cuda.attention.tiles import Form
from mt_cuda.core.elements import computed
from mt_cuda.core.kernel import Kernel
from mt_cuda.core.layout import NARROW_LIMIT, merge, size_names, stride_names
from mt_cuda.tensors import is_floating, new, new_in_order, number_of, numbers_of, ops_of, tensor_of
from mt_tensor import Tensor, TensorData
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved


class Attention(FusedKernel):
    """Attention; the arguments are queries, keys, values, a mask or None, `causal` and the scale.

    The mask is added to the scores. Results and gradients have the dimension order of the queries,
    keys and values, so that heads that were split from a feature dimension are merged without a
    copy.
    """

    def fits(self, *arguments: Any) -> bool:
        """Return whether the kernels support the arguments.

        These must be non-empty tensors of one floating-point dtype with fewer than 2**31 elements
        each, at most `WIDEST` in the last dimension, and no mask if `causal`.
        """
        query, _, value, mask, causal, _ = arguments
        return (
            is_floating(*arguments[:4])
            and max(query.shape[-1], value.shape[-1]) <= tiles.WIDEST
            and all(x is None or x.numel() < NARROW_LIMIT for x in arguments[:4])
            and not (causal and mask is not None)
        )

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the weighted means of values; save them, and the log of the sum of each query."""
        query, _, value, *_ = arguments
        out = new_in_order(query, (*query.shape[:-1], value.shape[-1]))
        logarithm = new(query, query.shape[:-1], computed(query.dtype))
        _launch("value", kernels.value, arguments, {"out": out}, [logarithm])
        result = tensor_of(out, query)
        return result, (result, logarithm)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of queries, keys, values and mask."""
        query, key, value, mask, *_ = arguments
        result, logarithm = saved
        delta = new(query, query.shape[:-1], logarithm.dtype)
        of_query, of_key, of_value = (new_in_order(x, x.shape) for x in (query, key, value))
        read = {"out": result._tensor, "grad": grad._tensor, "of_query": of_query}
        make = functools.partial(kernels.query_gradient, of_mask=needs[3])
        scores = new(query, (*query.shape[:-1], key.shape[-2])) if needs[3] else None
        if scores is not None:
            read["of_mask"] = scores
        _launch("query_gradient", make, arguments, read, [logarithm, delta])
        if needs[1] or needs[2]:
            read = {"grad": grad._tensor, "of_key": of_key, "of_value": of_value}
            _launch("key_gradient", kernels.key_gradient, arguments, read, [logarithm, delta])
        of_mask = None
        if scores is not None:
            of_mask = tensor_of(scores, query).sum_to_size(mask.shape)
        found = (tensor_of(x, query) for x in (of_query, of_key, of_value))
        return *found, of_mask, None, None


def _launch(
    name: str,
    make: Callable[[Form], Kernel],
    arguments: Sequence[Any],
    more: dict[str, TensorData],
    rows: list[TensorData],
) -> None:
    """Launch a kernel: one block for each tile of queries, or of keys, of each matrix.

    Args:
        name: the name of the kernel.
        make: the function that returns the kernel.
        arguments: the arguments of the operation.
        more: the operands in addition to queries, keys, values and mask, by name, in order.
        rows: the operands with one number per query.
    """
    query, key, value, mask, causal, scale = arguments
    ops, dtype, batch = ops_of(query), query.dtype, query.shape[:-2]
    views = {"query": query._tensor, "key": key._tensor, "value": value._tensor, **more}
    if mask is not None:
        views["mask"] = mask._tensor.expand((*query.shape[:-1], key.shape[-2]))

    def plan() -> Any:
        layout = merge(batch, [view.strides[:-2] for view in views.values()])
        counts = (layout.size, query.shape[-2], key.shape[-2], query.shape[-1], value.shape[-1])
        size = ops.machine.size
        tile = tiles.choose(max(counts[3:]), computed(dtype), size, backward=name != "value")
        kernel = make(Form(dtype, tile, layout.rank, causal, mask is not None))
        steps = {f"{m}_row": view.strides[-2] for m, view in views.items()}
        steps |= {f"{m}_column": view.strides[-1] for m, view in views.items()}
        for m, strides in zip(views, layout.strides, strict=True):
            steps |= dict(zip(stride_names(m, layout.rank), strides, strict=True))
        steps |= dict(zip(size_names(layout.rank), layout.shape[1:], strict=True))
        numbers = numbers_of(kernel, {**dict(zip(tiles.COUNTS, counts, strict=True)), **steps})
        owned = counts[2] if name == "key_gradient" else counts[1]
        blocks = -(-owned // tile.own) * layout.size
        return ops.plan(kernel, (blocks, 1), tile.threads, numbers)

    shapes = tuple((m, view.shape, view.strides) for m, view in views.items())
    planned = ops.remembered(("attention", name, dtype, causal, shapes), plan)
    ops.launch(planned, [*views.values(), *rows], [number_of(scale, dtype)])


KERNELS = {"attention": Attention()}
"""For `mt_tensor.extending.register_kernels`."""
