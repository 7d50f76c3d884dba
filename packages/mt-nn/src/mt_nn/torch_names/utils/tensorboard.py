"""`torch.utils.tensorboard`: logs for TensorBoard, written by the package tensorboardX."""

from mt_nn.inspection.tensorboard import *
