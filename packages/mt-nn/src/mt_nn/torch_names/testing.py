"""`torch.testing`: comparing tensors in tests."""

from mt_tensor.pointwise.comparing import assert_close as assert_close
