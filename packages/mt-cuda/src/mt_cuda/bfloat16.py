"""bfloat16 in the simulator: kernels read and write its bits, a uint16."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_cuda.core.simulator import NAMES
from mt_tensor import bfloat16
from mt_tensor.backends.extending import cast_array, to_float32


def _bits(x: Any) -> Any:
    """Return the bits of a number as bfloat16."""
    return cast_array(np.asarray(x), bfloat16).view(np.uint16)[()]


NAMES["bfloat16"] = _bits
NAMES["float_of_bfloat16"] = lambda bits: to_float32(bits.view(bfloat16.numpy))
