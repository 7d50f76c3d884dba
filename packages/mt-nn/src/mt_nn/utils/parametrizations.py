"""Ready ways of computing parameters from others, under torch's names."""

from mt_nn.library.utils.parametrizations import (
    weight_norm as weight_norm,
    spectral_norm as spectral_norm,
)
