"""What users find in `mt_nn.parallel`, and where it is defined."""

from mt_nn.parallel.batch_norm import SyncBatchNorm as SyncBatchNorm
from mt_nn.parallel.data_parallel import DataParallel as DataParallel
from mt_nn.parallel.group import Group as Group
from mt_nn.parallel.sampling import DistributedSampler as DistributedSampler
from mt_nn.parallel.sampling import SharedBatches as SharedBatches
from mt_nn.parallel.sampling import SharedStream as SharedStream
from mt_nn.parallel.sharding import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer
from mt_nn.parallel.world import world as world
