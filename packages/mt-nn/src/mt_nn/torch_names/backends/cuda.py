"""`torch.backends.cuda`: settings that programs may make; results never depend on them."""

from types import SimpleNamespace

from mt_nn.torch_names import _mirror

matmul = SimpleNamespace(allow_tf32=False)

_mirror.finish(__name__)
