"""The measured programs, written once for both sides, with a file for each subject."""

from __future__ import annotations

# Importing a module registers its workloads, in the order of the report.
from mt.bench.workloads import (  # noqa: F401  # isort: skip
    overhead,
    elementwise,
    reductions,
    products,
    windows,
    recurrent,
    training,
    calls,
    layers,
    jobs,
    steps,
    programs,
)
from mt.bench.workloads.registry import WORKLOADS, Program, Workload

__all__ = ["WORKLOADS", "Program", "Workload"]
