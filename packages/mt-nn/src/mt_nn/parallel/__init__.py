"""Training by several processes at once, on one machine or on many, over MPI.

    mpiexec -n 4 python train.py

It is imported by whoever trains so, and not by `import mt_nn`.
"""

from mt_nn.parallel.batch_norm import SyncBatchNorm
from mt_nn.parallel.data_parallel import DataParallel
from mt_nn.parallel.group import Group, world
from mt_nn.parallel.sampling import DistributedSampler, SharedBatches, SharedStream
from mt_nn.parallel.sharding import ZeroRedundancyOptimizer

# fmt: off
__all__ = [
    "DataParallel", "DistributedSampler", "Group", "SharedBatches", "SharedStream", "SyncBatchNorm",
    "ZeroRedundancyOptimizer", "world",
]
# fmt: on
