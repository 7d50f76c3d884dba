"""`torch.nn.init`: initializers of parameters, also under their old names."""

from mt_nn import init as _init
from mt_nn.init import *

constant, dirac, eye, normal = _init.constant_, _init.dirac_, _init.eye_, _init.normal_
kaiming_normal, kaiming_uniform = _init.kaiming_normal_, _init.kaiming_uniform_
orthogonal, sparse, uniform = _init.orthogonal_, _init.sparse_, _init.uniform_
xavier_normal, xavier_uniform = _init.xavier_normal_, _init.xavier_uniform_
