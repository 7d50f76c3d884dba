"""A context manager for evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mt_operators import Module
from mt_tensor import no_grad


@contextmanager
def evaluation(model: Module) -> Iterator[None]:
    """Put a model into evaluation mode, without recording gradients, inside a `with` block.

    The modes of all modules are restored afterwards, even after an error.
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
