"""What users find in `mt_nn.utils`, and where it is defined."""

from mt_nn.utils.clipping import clip_grad_norm_ as clip_grad_norm_
from mt_nn.utils.clipping import clip_grad_value_ as clip_grad_value_
from mt_nn.utils.clipping import clip_grads_with_norm_ as clip_grads_with_norm_
from mt_nn.utils.clipping import get_total_norm as get_total_norm
from mt_nn.utils.fusing import fuse_conv_bn_eval as fuse_conv_bn_eval
from mt_nn.utils.fusing import fuse_conv_bn_weights as fuse_conv_bn_weights
from mt_nn.utils.fusing import fuse_linear_bn_eval as fuse_linear_bn_eval
from mt_nn.utils.fusing import fuse_linear_bn_weights as fuse_linear_bn_weights
from mt_nn.utils.vectors import parameters_to_vector as parameters_to_vector
from mt_nn.utils.vectors import vector_to_parameters as vector_to_parameters
from mt_nn.utils import parametrizations as parametrizations
from mt_nn.utils import parametrize as parametrize
from mt_nn.utils import rnn as rnn
