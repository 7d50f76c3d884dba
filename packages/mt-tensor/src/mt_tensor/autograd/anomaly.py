"""Find the operation whose gradient is the first to be nan."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from mt_autodiff import GradientError
from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.pytree import leaves_in
from mt_tensor.tape import Tape


class detect_anomaly(Tape):  # noqa: N801 - the name of torch
    """Raise an error in backward where a gradient becomes nan, inside a `with` block.

        with mt.autograd.detect_anomaly():
            loss.backward()

    Reading every gradient takes time: use it only for debugging.

    Args:
        check_nan: whether to check; if False, the block has no effect.

    Raises:
        GradientError: (in backward) an operation computed a gradient that is nan from one that is
            not.
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._checks = check_nan

    def handle_operation(
        self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """Run an operation, and check its results if it is part of a backward pass."""
        result = function(*arguments)
        if self.backward_depth and self._checks:
            for position, each in enumerate(leaves_in(result)):
                if isinstance(each, Tensor) and bool(each.isnan().any()):
                    raise GradientError(
                        f"the backward of {name!r} returned nan as gradient {position}: check "
                        "the arguments of that operation, such as a square root or logarithm of 0."
                    )
        return result


class _InThread(threading.local):
    """The tape of each thread that `set_detect_anomaly` starts and stops."""

    def __init__(self) -> None:
        self.tape = detect_anomaly()


_IN_THREAD = _InThread()


class set_detect_anomaly:  # noqa: N801 - the name of torch
    """Start or stop `detect_anomaly` in this thread; in a `with` statement, until its end.

    Args:
        mode: whether to check gradients.
        check_nan: whether to check for nan.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _IN_THREAD.tape.is_active
        self._set(mode and check_nan)

    def _set(self, mode: bool) -> None:
        tape = _IN_THREAD.tape
        if mode is not tape.is_active:
            tape.__enter__() if mode else tape.__exit__()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._set(self._before)
