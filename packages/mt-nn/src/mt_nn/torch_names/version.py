"""`torch.version`: which version this is, and of which GPUs' libraries: of none."""

from mt_nn import __version__

cuda = None
hip = None
