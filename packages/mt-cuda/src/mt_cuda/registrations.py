"""Import what lies beside the core, so that it registers in the core's tables.

The package imports this module when one of its names is first used.
"""

from __future__ import annotations

import mt_cuda.integers  # noqa: F401 - importing registers
