"""Adding to `grad`: in its memory, and by one thread at a time."""

from __future__ import annotations

import threading

from mt_autodiff.core.mode import recording
from mt_tensor.core.tensor import Tensor

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


def add_to_grad(self: Tensor, derivative: Tensor) -> None:
    """Add a gradient to what is stored: of a leaf in its memory, unless that is recorded."""
    with self._alone():
        grad = self._grad
        if grad is not None:
            if self._node is None and not recording.get():
                grad._in_place("add", derivative)
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
