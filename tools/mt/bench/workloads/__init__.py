"""The measured programs, written once for both sides, with a file for each group."""

from __future__ import annotations

# Importing a module registers its workloads, in the order of the report.
from mt.bench.workloads import calls, jobs, kernels, layers, programs, steps  # noqa: F401
from mt.bench.workloads.registry import WORKLOADS, Program, Workload

__all__ = ["WORKLOADS", "Program", "Workload"]
