"""Training: a `Trainer` with metrics, logs and checkpoints; and the command `mt-train`.

It is imported by whoever trains, and not by `import mt_nn`.
"""

from mt_nn.library.train.callbacks import EarlyStopping, SaveCheckpoints
from mt_nn.library.train.curves import draw_curves
from mt_nn.library.train.history import History
from mt_nn.library.train.lenet import LeNet
from mt_nn.library.train.logs import CSVLog, JSONLinesLog, ProgressBar
from mt_nn.library.train.metrics import (
    F1,
    Accuracy,
    ConfusionMatrix,
    Mean,
    Metric,
    Perplexity,
    Precision,
    Recall,
    TopKAccuracy,
)
from mt_nn.library.train.trainer import Callback, Trainer

__all__ = [
    "F1",
    "Accuracy",
    "CSVLog",
    "Callback",
    "ConfusionMatrix",
    "EarlyStopping",
    "History",
    "JSONLinesLog",
    "LeNet",
    "Mean",
    "Metric",
    "Perplexity",
    "Precision",
    "ProgressBar",
    "Recall",
    "SaveCheckpoints",
    "TopKAccuracy",
    "Trainer",
    "draw_curves",
]
