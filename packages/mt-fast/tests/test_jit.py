"""jit: the vector width that LLVM uses for kernels and for other functions."""

import numpy as np
import pytest
from numba import njit

from mt_fast.core.elementwise import elementwise_source
from mt_fast.core.kernel import compiled
from mt_fast.core.tables import jit
from mt_fast.vectors.processor import VECTOR_BYTES
from mt_operators import OPERATORS
from mt_tensor import float32

requires_64_byte_vectors = pytest.mark.skipif(
    VECTOR_BYTES != 64, reason="the processor has no vectors of 64 bytes"
)


def _twice(x, out):
    for i in range(x.size):
        out[i] = x[i] + x[i]


@requires_64_byte_vectors
@pytest.mark.parametrize(
    ("name", "is_memory_bound"), [("add", True), ("exp", False), ("log", False)]
)
def test_compute_bound_kernel_uses_full_width_vectors(name, is_memory_bound, monkeypatch):
    monkeypatch.setenv("MT_FAST_CACHE", "off")  # cached kernels have no assembly
    operator = OPERATORS[name]
    views = (float32,) * operator.arity
    source = elementwise_source(operator.value, views, (float32,))
    assert source.is_memory_bound == is_memory_bound
    serial = compiled.__wrapped__(source).serial
    row = np.ones(3, np.float32)
    serial(0, 3, *(row, 0) * (operator.arity + 1))
    (text,) = serial.inspect_llvm().values()
    assert ('"prefer-vector-width"="512"' in text) != is_memory_bound
    if not is_memory_bound:
        (assembly,) = serial.inspect_asm().values()
        assert "%zmm" in assembly


@requires_64_byte_vectors
def test_functions_compiled_with_njit_keep_default_width():
    row = np.ones(3, np.float32)
    ours, theirs = jit()(_twice), njit(_twice)
    for function in (ours, theirs):
        function(row, row)
    for function, expected in ((ours, True), (theirs, False)):
        (text,) = function.inspect_llvm().values()
        assert ('"prefer-vector-width"="512"' in text) == expected
