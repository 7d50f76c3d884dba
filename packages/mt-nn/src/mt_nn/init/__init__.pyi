"""What users find in `mt_nn.init`, and where it is defined."""

from mt_nn.core.init import Nonlinearity as Nonlinearity
from mt_nn.core.init import calculate_gain as calculate_gain
from mt_nn.core.init import constant_ as constant_
from mt_nn.core.init import fan_in as fan_in
from mt_nn.core.init import fan_out as fan_out
from mt_nn.core.init import init_like_torch as init_like_torch
from mt_nn.core.init import kaiming_normal_ as kaiming_normal_
from mt_nn.core.init import kaiming_uniform_ as kaiming_uniform_
from mt_nn.core.init import normal_ as normal_
from mt_nn.core.init import ones_ as ones_
from mt_nn.core.init import uniform_ as uniform_
from mt_nn.core.init import xavier_normal_ as xavier_normal_
from mt_nn.core.init import xavier_uniform_ as xavier_uniform_
from mt_nn.core.init import zeros_ as zeros_
from mt_nn.init.structured import dirac_ as dirac_
from mt_nn.init.structured import eye_ as eye_
from mt_nn.init.structured import orthogonal_ as orthogonal_
from mt_nn.init.structured import sparse_ as sparse_
from mt_nn.init.structured import trunc_normal_ as trunc_normal_
