"""`torch.quantization`: linear layers with int8 weights."""

from mt_nn.quantization import quantize_dynamic
