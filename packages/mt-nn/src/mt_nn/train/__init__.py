"""Training: a `Trainer` with metrics, logs and checkpoints.

`import mt_nn` does not import this package.
"""

# fmt: off
from mt_nn.core.lenet import LeNet
from mt_nn.train.callbacks import CSVLog, EarlyStopping, JSONLinesLog, ProgressBar, SaveCheckpoints
from mt_nn.train.history import History, draw_curves
from mt_nn.train.metrics import (
    F1, Accuracy, ConfusionMatrix, Mean, Metric, Perplexity, Precision, Recall, TopKAccuracy,
)
from mt_nn.train.networks import LSTMLanguageModel, ResNet9, TextCNN, TransformerLanguageModel
from mt_nn.train.trainer import Callback, Trainer

__all__ = [
    "F1", "Accuracy", "CSVLog", "Callback", "ConfusionMatrix", "EarlyStopping", "History",
    "JSONLinesLog", "LSTMLanguageModel", "LeNet", "Mean", "Metric", "Perplexity", "Precision",
    "ProgressBar", "Recall", "ResNet9", "SaveCheckpoints", "TextCNN", "TopKAccuracy", "Trainer",
    "TransformerLanguageModel", "draw_curves",
]
