"""Where the code of users is, for messages about it."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from mt_tensor.core.kernels import PACKAGES


def is_user_module(module: Any) -> bool:
    """Whether a module of this name is neither of this project nor of Python's library."""
    root = str(module).partition(".")[0]
    return root not in PACKAGES and root not in sys.stdlib_module_names and root != "numpy"


def user_location() -> str:
    """Return where the innermost function of users is by now, in words."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if is_user_module(name) or name == "__main__":
            return f", in line {frame.f_lineno} of {frame.f_code.co_filename}"
        frame = frame.f_back
    return ""
