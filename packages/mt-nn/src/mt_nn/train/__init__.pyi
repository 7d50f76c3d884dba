"""What users find in `mt_nn.train`, and where it is defined."""

from mt_nn.train.callbacks import EarlyStopping as EarlyStopping
from mt_nn.train.callbacks import SaveCheckpoints as SaveCheckpoints
from mt_nn.train.curves import draw_curves as draw_curves
from mt_nn.train.history import History as History
from mt_nn.train.language_models import LSTMLanguageModel as LSTMLanguageModel
from mt_nn.train.language_models import TransformerLanguageModel as TransformerLanguageModel
from mt_nn.train.lenet import LeNet as LeNet
from mt_nn.train.logs import CSVLog as CSVLog
from mt_nn.train.logs import JSONLinesLog as JSONLinesLog
from mt_nn.train.logs import ProgressBar as ProgressBar
from mt_nn.train.metrics import F1 as F1
from mt_nn.train.metrics import Accuracy as Accuracy
from mt_nn.train.metrics import ConfusionMatrix as ConfusionMatrix
from mt_nn.train.metrics import Mean as Mean
from mt_nn.train.metrics import Metric as Metric
from mt_nn.train.metrics import Perplexity as Perplexity
from mt_nn.train.metrics import Precision as Precision
from mt_nn.train.metrics import Recall as Recall
from mt_nn.train.metrics import TopKAccuracy as TopKAccuracy
from mt_nn.train.resnet9 import ResNet9 as ResNet9
from mt_nn.train.text_cnn import TextCNN as TextCNN
from mt_nn.train.trainer import Callback as Callback
from mt_nn.train.trainer import Trainer as Trainer
