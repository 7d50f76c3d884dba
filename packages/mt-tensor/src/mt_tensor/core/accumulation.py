"""Adding to `grad`: in its memory, and by one thread at a time."""

from __future__ import annotations

import threading

from mt_autodiff.core.mode import recording
from mt_operators import OPERATORS
from mt_tensor.core.errors import InPlaceError
from mt_tensor.core.plans import Plans
from mt_tensor.core.strides import overlaps
from mt_tensor.core.tensor import Tensor

_ADD = Plans(OPERATORS["add"].value)
_making_locks = threading.Lock()


def _alone(self: Tensor) -> threading.RLock:
    """Return what a thread must hold while it changes `_grad`, or the node of a view."""
    try:
        lock: threading.RLock = self._lock
    except AttributeError:
        with _making_locks:
            if not hasattr(self, "_lock"):
                self._lock = threading.RLock()
        lock = self._lock
    return lock


def _add_in_place(grad: Tensor, derivative: Tensor) -> None:
    """Add a tensor of the same shape and dtype to a gradient, in its memory.

    Raises:
        InPlaceError: the gradient repeats elements, as `ones(1).expand(3)` does.
    """
    data, added, backend = grad._tensor, derivative._tensor, grad.backend
    layout = data.layout
    if not layout.row_major and overlaps(layout.shape, layout.strides):
        raise InPlaceError(
            f"grad has shape {layout.shape} and strides {layout.strides}, which repeat elements: "
            "no gradient can be added to it. Assign a clone() of it."
        )
    if backend.same_memory(data.storage, added.storage):
        added = backend.copy(added, added.layout.contiguous)
    _ADD.change(backend, (data,), data, added)
    data.bump_version()


def add_to_grad(self: Tensor, derivative: Tensor) -> None:
    """Add a gradient to what is stored: of a leaf in its memory, unless that is recorded."""
    try:
        lock = self._lock
    except AttributeError:
        lock = self._alone()
    with lock:
        grad = self._grad
        if grad is not None:
            if self._node is None and not recording.get():
                _add_in_place(grad, derivative)
            else:
                self._grad = grad + derivative
        elif recording.get():
            self._grad = derivative.clone()
        elif derivative._fresh:
            derivative._fresh = False
            self._grad = derivative
        else:  # a copy, for the gradient may share its memory with that of another leaf
            data, backend = derivative._tensor, self.backend
            self._grad = Tensor._make(backend.copy(data, data.layout.contiguous), backend)
