"""The tables of calls: every layer and function of networks, with all that they can be told.

A module of this folder is one subject. A new layer or function is entered in the table of its
subject, in `CALLS` if it works and in `REFUSED` if it must not.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from mt_nn.conformance.calls.call import Call, Refused

_TABLES: list[Any] = [
    import_module(f"{__name__}.{module.name}")
    for module in iter_modules(__path__)
    if module.name != "call"
]

CALLS: list[Call] = [row for table in _TABLES for row in table.CALLS]
REFUSED: list[Refused] = [row for table in _TABLES for row in table.REFUSED]

__all__ = ["CALLS", "REFUSED", "Call", "Refused"]
