"""Training: a `Trainer` with metrics, logs and checkpoints.

`import mt_nn` does not import this package.
"""

# fmt: off
from mt_nn.core.lenet import LeNet
from mt_nn.train.callbacks import CSVLog, EarlyStopping, ProgressBar, SaveCheckpoints
from mt_nn.train.history import History, draw_curves
from mt_nn.train.metrics import Accuracy, ConfusionMatrix, Mean, Metric
from mt_nn.train.networks import LSTMLanguageModel, ResNet9, TextCNN, TransformerLanguageModel
from mt_nn.train.trainer import Callback, Trainer

__all__ = [
    "Accuracy", "CSVLog", "Callback", "ConfusionMatrix", "EarlyStopping", "History",
    "LSTMLanguageModel", "LeNet", "Mean", "Metric", "ProgressBar", "ResNet9", "SaveCheckpoints",
    "TextCNN", "Trainer", "TransformerLanguageModel", "draw_curves",
]
