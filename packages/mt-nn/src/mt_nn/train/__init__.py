"""Training a network on images: the model, the loop, the picture, and the command `mt-train`."""

from mt_nn.train.lenet import LeNet
from mt_nn.train.loop import Epoch, evaluate, train_epoch

__all__ = ["Epoch", "LeNet", "evaluate", "train_epoch"]
