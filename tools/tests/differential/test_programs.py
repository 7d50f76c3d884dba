"""Random programs give the same results as with torch, and the same compiled as eagerly.

README.md describes the options.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import mt_tensor as mt
from differential.limits import limited
from differential.reporting import ORACLES, counted, described
from differential.shrinking import smallest


def test_random_program_matches_its_oracle(
    oracle: str,
    seed: int,
    number: int,
    backend: str,
    record_property: Callable[[str, object], None],
) -> None:
    with mt.use_backend(backend):
        with limited():
            program = ORACLES[oracle].run_random(seed, number)
        record_property("program", counted(program, oracle))
        if program.difference is not None:
            with limited(seconds=0):
                program = smallest(program, ORACLES[oracle].run)
            pytest.fail(described(program, oracle), pytrace=False)
    print(described(program, oracle))
