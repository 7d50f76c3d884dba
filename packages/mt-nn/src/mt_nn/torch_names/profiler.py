"""`torch.profiler`: the time of each operation."""

from mt_nn.inspection.profiling import *
