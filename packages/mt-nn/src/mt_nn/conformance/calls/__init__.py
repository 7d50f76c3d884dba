"""Tables of calls: every layer and function of networks, with all settings.

Each module of this folder has the table of one subject; add new layers and functions there. Errors
are the same on every backend, and are tested in `tests/test_invalid_calls.py`.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from mt_nn.conformance.calls.call import Call

_TABLES: list[Any] = [
    import_module(f"{__name__}.{module.name}")
    for module in iter_modules(__path__)
    if module.name != "call"
]

CALLS: list[Call] = [row for table in _TABLES for row in table.CALLS]

__all__ = ["CALLS", "Call"]
