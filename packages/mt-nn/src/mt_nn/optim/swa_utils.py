"""Averages of models, under torch's names."""

from mt_nn.library.optim.swa_utils import (
    get_ema_avg_fn as get_ema_avg_fn,
    get_ema_multi_avg_fn as get_ema_multi_avg_fn,
    AveragedModel as AveragedModel,
    SWALR as SWALR,
    update_bn as update_bn,
)
