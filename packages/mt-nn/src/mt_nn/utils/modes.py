"""Modules in evaluation mode for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mt_operators import Module
from mt_tensor import no_grad


@contextmanager
def evaluation(model: Module) -> Iterator[None]:
    """Put a model into evaluation mode inside a `with` block, in which nothing is recorded.

    Every module has its own mode again afterwards, also when the block raises.
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
