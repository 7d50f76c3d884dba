"""What users find in `mt_nn.functional`, and where it is defined."""

from mt_nn.core.convolution import conv1d as conv1d
from mt_nn.core.convolution import conv2d as conv2d
from mt_nn.core.convolution import conv3d as conv3d
from mt_nn.core.dropout import dropout as dropout
from mt_nn.core.linear import linear as linear
from mt_nn.core.losses import accuracy as accuracy
from mt_nn.core.losses import cross_entropy as cross_entropy
from mt_nn.core.losses import nll_loss as nll_loss
from mt_nn.core.padding import pad as pad
from mt_nn.core.pooling import avg_pool2d as avg_pool2d
from mt_nn.core.pooling import avg_pool3d as avg_pool3d
from mt_nn.core.pooling import max_pool1d as max_pool1d
from mt_nn.core.pooling import max_pool2d as max_pool2d
from mt_nn.core.pooling import max_pool3d as max_pool3d
from mt_nn.core.windows import windows as windows
from mt_nn.functional.activation import celu as celu
from mt_nn.functional.activation import elu as elu
from mt_nn.functional.activation import gumbel_softmax as gumbel_softmax
from mt_nn.functional.activation import hardsigmoid as hardsigmoid
from mt_nn.functional.activation import hardswish as hardswish
from mt_nn.functional.activation import hardtanh as hardtanh
from mt_nn.functional.activation import leaky_relu as leaky_relu
from mt_nn.functional.activation import mish as mish
from mt_nn.functional.activation import relu as relu
from mt_nn.functional.activation import relu6 as relu6
from mt_nn.functional.activation import rrelu as rrelu
from mt_nn.functional.activation import selu as selu
from mt_nn.functional.activation import silu as silu
from mt_nn.functional.activation import threshold as threshold
from mt_nn.functional.adaptive_pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from mt_nn.functional.adaptive_pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from mt_nn.functional.adaptive_pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from mt_nn.functional.adaptive_pooling import adaptive_max_pool1d as adaptive_max_pool1d
from mt_nn.functional.adaptive_pooling import adaptive_max_pool2d as adaptive_max_pool2d
from mt_nn.functional.adaptive_pooling import adaptive_max_pool3d as adaptive_max_pool3d
from mt_nn.functional.attention import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from mt_nn.functional.bilinear import bilinear as bilinear
from mt_nn.functional.dropouts import alpha_dropout as alpha_dropout
from mt_nn.functional.dropouts import drop_path as drop_path
from mt_nn.functional.dropouts import dropout1d as dropout1d
from mt_nn.functional.dropouts import dropout2d as dropout2d
from mt_nn.functional.dropouts import dropout3d as dropout3d
from mt_nn.functional.dropouts import feature_alpha_dropout as feature_alpha_dropout
from mt_nn.functional.embedding import embedding as embedding
from mt_nn.functional.embedding import embedding_bag as embedding_bag
from mt_nn.functional.folding import fold as fold
from mt_nn.functional.folding import unfold as unfold
from mt_nn.functional.fractional_pooling import (
    fractional_max_pool2d as fractional_max_pool2d,
)
from mt_nn.functional.fractional_pooling import (
    fractional_max_pool3d as fractional_max_pool3d,
)
from mt_nn.losses.differences import huber_loss as huber_loss
from mt_nn.losses.differences import l1_loss as l1_loss
from mt_nn.losses.differences import mse_loss as mse_loss
from mt_nn.losses.differences import smooth_l1_loss as smooth_l1_loss
from mt_nn.losses.labels import binary_cross_entropy as binary_cross_entropy
from mt_nn.losses.labels import (
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
)
from mt_nn.losses.labels import (
    multilabel_soft_margin_loss as multilabel_soft_margin_loss,
)
from mt_nn.losses.labels import soft_margin_loss as soft_margin_loss
from mt_nn.losses.likelihoods import gaussian_nll_loss as gaussian_nll_loss
from mt_nn.losses.likelihoods import kl_div as kl_div
from mt_nn.losses.likelihoods import poisson_nll_loss as poisson_nll_loss
from mt_nn.losses.margins import multi_margin_loss as multi_margin_loss
from mt_nn.losses.margins import multilabel_margin_loss as multilabel_margin_loss
from mt_nn.losses.sequences import ctc_loss as ctc_loss
from mt_nn.losses.similarities import (
    cosine_embedding_loss as cosine_embedding_loss,
)
from mt_nn.losses.similarities import (
    hinge_embedding_loss as hinge_embedding_loss,
)
from mt_nn.losses.similarities import margin_ranking_loss as margin_ranking_loss
from mt_nn.losses.similarities import triplet_margin_loss as triplet_margin_loss
from mt_nn.losses.similarities import (
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from mt_nn.functional.normalization import batch_norm as batch_norm
from mt_nn.functional.normalization import group_norm as group_norm
from mt_nn.functional.normalization import instance_norm as instance_norm
from mt_nn.functional.normalization import layer_norm as layer_norm
from mt_nn.functional.normalization import local_response_norm as local_response_norm
from mt_nn.functional.normalization import normalize as normalize
from mt_nn.functional.normalization import rms_norm as rms_norm
from mt_nn.functional.pooling import avg_pool1d as avg_pool1d
from mt_nn.functional.pooling import lp_pool1d as lp_pool1d
from mt_nn.functional.pooling import lp_pool2d as lp_pool2d
from mt_nn.functional.pooling import lp_pool3d as lp_pool3d
from mt_nn.functional.rearranging import channel_shuffle as channel_shuffle
from mt_nn.functional.rearranging import pixel_shuffle as pixel_shuffle
from mt_nn.functional.rearranging import pixel_unshuffle as pixel_unshuffle
from mt_nn.functional.resampling import interpolate as interpolate
from mt_nn.functional.transposed import conv_transpose1d as conv_transpose1d
from mt_nn.functional.transposed import conv_transpose2d as conv_transpose2d
from mt_nn.functional.transposed import conv_transpose3d as conv_transpose3d
from mt_nn.functional.unpooling import max_unpool1d as max_unpool1d
from mt_nn.functional.unpooling import max_unpool2d as max_unpool2d
from mt_nn.functional.unpooling import max_unpool3d as max_unpool3d
from mt_tensor import cosine_similarity as cosine_similarity
from mt_tensor import gelu as gelu
from mt_tensor import glu as glu
from mt_tensor import hardshrink as hardshrink
from mt_tensor import log_softmax as log_softmax
from mt_tensor import logsigmoid as logsigmoid
from mt_tensor import one_hot as one_hot
from mt_tensor import pairwise_distance as pairwise_distance
from mt_tensor import pdist as pdist
from mt_tensor import prelu as prelu
from mt_tensor import sigmoid as sigmoid
from mt_tensor import softmax as softmax
from mt_tensor import softmin as softmin
from mt_tensor import softplus as softplus
from mt_tensor import softshrink as softshrink
from mt_tensor import softsign as softsign
from mt_tensor import tanh as tanh
from mt_tensor import tanhshrink as tanhshrink
