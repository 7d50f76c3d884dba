"""`torch.version`: the version of mt-nn; there are no versions of CUDA and HIP."""

from mt_nn import __version__

cuda = None
hip = None
