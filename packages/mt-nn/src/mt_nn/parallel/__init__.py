"""Distributed training with several processes (ranks), on one or several machines, with MPI.

    mpiexec -n 4 python train.py

`import mt_nn` does not import this package.
"""

from mt_nn.parallel.batch_norm import SyncBatchNorm
from mt_nn.parallel.data_parallel import DataParallel
from mt_nn.parallel.group import Group
from mt_nn.parallel.sampling import DistributedSampler, SharedBatches
from mt_nn.parallel.sharding import ZeroRedundancyOptimizer
from mt_nn.parallel.world import world

# fmt: off
__all__ = [
    "DataParallel", "DistributedSampler", "Group", "SharedBatches", "SyncBatchNorm",
    "ZeroRedundancyOptimizer", "world",
]
# fmt: on
