"""What keeps threads apart that change the same tensor."""

from __future__ import annotations

import threading

from mt_tensor.public import method
from mt_tensor.tensor import Tensor

_making_locks = threading.Lock()


@method
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
