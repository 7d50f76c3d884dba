"""Random programs of 5 to 20 instructions give what torch gives, or else NumPy.

    MT_PROGRAMS=2000 pytest --pyargs mt_tensor.conformance.test_programs --mt-backend NAME

runs more of them than usual.
"""

from __future__ import annotations

import importlib.util
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mt_tensor.backends import use_backend
from mt_tensor.conformance.choices import Draw
from mt_tensor.conformance.programs import NumpyReference, Program, Reference, TorchReference

PROGRAMS = int(os.environ.get("MT_PROGRAMS", settings().max_examples))

REFERENCES: list[type[Reference]] = [NumpyReference]
if importlib.util.find_spec("torch"):
    REFERENCES.append(TorchReference)

TYPES = ["float64", "float64", "float32", "int64", "int32", "bool"]
SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (2, 2), (1, 3), (2, 1, 3), (0,), (2, 0), (2, 3, 2)]


def run(draw: Draw, reference: Reference) -> Program:
    """Make tensors of small multiples of a quarter, and follow a number of instructions."""
    program = Program(reference)
    arrays = []
    for number in range(3):
        shape = draw.one_of(SHAPES)
        elements = [draw.between(-8, 8) / 4 for _ in range(int(np.prod(shape)))]
        dtype = "float64" if number == 0 else draw.one_of(TYPES)
        arrays.append(np.array(elements).reshape(shape).astype(dtype))
    program.start(arrays)
    left = draw.between(5, 20)
    while left:
        left -= program.step(draw)
    program.check_gradients()
    return program


@pytest.mark.parametrize("reference", REFERENCES)
@settings(
    max_examples=PROGRAMS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_programs(backend_name: str, reference: type[Reference], data: st.DataObject) -> None:
    draw = Draw(lambda n: data.draw(st.integers(0, n - 1)))
    with use_backend(backend_name):
        run(draw, reference())
