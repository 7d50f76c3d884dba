"""`world()`: the group of all ranks of this program."""

from __future__ import annotations

import functools
import os

from mt_nn.errors import packages_needed
from mt_nn.parallel.group import Group

STARTED_BY_MPI = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
"""Environment variables of processes that were started by MPI."""


@functools.cache
def world() -> Group:
    """Return the group of all ranks of this program; one rank if it was not started by MPI.

    Raises:
        MissingPackageError: MPI has started the program, but mpi4py is not installed.
        RankError: the ranks run different versions of Python, NumPy or these packages.
    """
    if not any(name in os.environ for name in STARTED_BY_MPI):
        return Group()
    with packages_needed("programs started by MPI need mpi4py: pip install 'mt-nn[mpi]'"):
        from mpi4py import MPI

        from mt_nn.parallel.mpi import MPIGroup
    return MPIGroup(MPI.COMM_WORLD) if MPI.COMM_WORLD.size > 1 else Group()
