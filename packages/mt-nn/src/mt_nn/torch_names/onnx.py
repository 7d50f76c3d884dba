"""`torch.onnx`: export of networks to ONNX files."""

from mt_nn.onnx import export
