"""`torch.backends.cuda`: settings that programs may make; results never depend on them."""

from types import SimpleNamespace

matmul = SimpleNamespace(allow_tf32=False)
