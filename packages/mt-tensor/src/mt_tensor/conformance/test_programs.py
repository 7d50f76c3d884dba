"""Random programs of 5 to 20 instructions, compared with NumPy.

    MT_PROGRAMS=2000 pytest --pyargs mt_tensor.conformance.test_programs --mt-backend NAME

runs more of them than usual.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mt_tensor.backends import use_backend
from mt_tensor.conformance.instructions import Draw, some_arrays
from mt_tensor.conformance.programs import Program

PROGRAMS = int(os.environ.get("MT_PROGRAMS", settings().max_examples))

many = settings(
    max_examples=PROGRAMS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""The decorator that runs a test on random programs."""

few = settings(many, max_examples=PROGRAMS // 4 or 1)
"""The same decorator with fewer examples, for slower tests that compile each program."""


def run(draw: Draw) -> Program:
    """Create tensors and run a number of instructions."""
    program = Program()
    program.start(some_arrays(draw))
    left = draw.between(5, 20)
    while left:
        left -= program.step(draw)
    return program


@many
@given(data=st.data())
def test_random_program_matches_numpy(backend_name: str, data: st.DataObject) -> None:
    draw = Draw(lambda n: data.draw(st.integers(0, n - 1)))
    with use_backend(backend_name):
        run(draw)
