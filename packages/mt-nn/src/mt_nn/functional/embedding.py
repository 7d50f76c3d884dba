"""Embedding: rows of a table looked up by number."""

from __future__ import annotations

from mt_nn.errors import InputError
from mt_tensor import Tensor, fused
from mt_tensor.recording.function import common_backend


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """Return a row of a table for each number.

    Args:
        input: numbers of rows, integers of any shape.
        weight: the table, shape (rows, width).

    Returns:
        Shape (*input.shape, width).

    Raises:
        InputError: the input holds no integers, or the table is no matrix.
        IndexingError: there is no such row.
        BackendMismatchError: the tensors belong to different backends.
    """
    if weight.ndim != 2 or input.dtype.kind != "integer":
        raise InputError(
            "embedding() takes integers and a table of shape (rows, width); "
            f"{input.dtype.name} and shape {weight.shape} were given."
        )
    common_backend(input, weight)
    return _embedding(weight, input)


@fused("embedding")
def _embedding(weight: Tensor, input: Tensor) -> Tensor:
    """Look up; the arguments are those of `embedding`, checked, the other way round."""
    rows = weight.index_select(0, input.reshape(-1))
    return rows.view(*input.shape, weight.shape[1])
