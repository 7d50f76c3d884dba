"""What users find in `mt_nn.parallel`, and where it is defined."""

from mt_nn.library.parallel.batch_norm import SyncBatchNorm as SyncBatchNorm
from mt_nn.library.parallel.data_parallel import DataParallel as DataParallel
from mt_nn.library.parallel.group import Group as Group
from mt_nn.library.parallel.sampling import DistributedSampler as DistributedSampler
from mt_nn.library.parallel.sampling import SharedBatches as SharedBatches
from mt_nn.library.parallel.sampling import SharedStream as SharedStream
from mt_nn.library.parallel.sharding import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer
from mt_nn.library.parallel.world import world as world
