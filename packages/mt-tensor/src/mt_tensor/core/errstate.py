"""Running NumPy without its warnings: overflow and the like follow IEEE 754, and nobody is told.

The contract wants this, and most backends compute with NumPy. Whether NumPy warns is a context
variable, and entering a context takes a twentieth of the time of `with np.errstate(...)`.
"""

from __future__ import annotations

import contextvars

import numpy as np

_quiet = contextvars.copy_context()
_quiet.run(np.seterr, all="ignore")

quiet = _quiet.copy
"""`quiet().run(function, ...)` calls a function in a context of its own, where NumPy is quiet."""

run_quietly = _quiet.run
"""`run_quietly(function, ...)` does so in less time, in a context that all calls share.

It is for the library. RuntimeError is raised while another call uses the context: in another
thread, or further out in this one.
"""
