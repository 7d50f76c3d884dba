"""Further rows of the operator table: activations of networks, and special functions."""

from mt_operators.functions import activations as activations
from mt_operators.functions import special as special
