"""Distinguish the code of users from that of this project, Python and NumPy."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from mt_tensor.core.kernels import PACKAGES


def is_user_module(module: Any) -> bool:
    """Return whether a module is not part of this project, the standard library or NumPy."""
    root = str(module).partition(".")[0]
    return root not in PACKAGES and root not in sys.stdlib_module_names and root != "numpy"


def user_location() -> str:
    """Return the line of the innermost user function that is running, for messages."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_user_module(frame.f_globals.get("__name__", "")):
            return f", in line {frame.f_lineno} of {frame.f_code.co_filename}"
        frame = frame.f_back
    return ""
