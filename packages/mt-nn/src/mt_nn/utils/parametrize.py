"""Parameters that are computed from others, under torch's names."""

from mt_nn.library.utils.parametrize import (
    ParametrizationList as ParametrizationList,
    register_parametrization as register_parametrization,
    is_parametrized as is_parametrized,
    remove_parametrizations as remove_parametrizations,
)
