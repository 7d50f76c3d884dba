"""`torch.random`: where random numbers come from."""

from mt_tensor import Generator as Generator
from mt_tensor import default_generator as default_generator
from mt_tensor import get_rng_state as get_rng_state
from mt_tensor import initial_seed as initial_seed
from mt_tensor import manual_seed as manual_seed
from mt_tensor import set_rng_state as set_rng_state
from mt_tensor.extending import fork_rng as fork_rng
from mt_tensor.extending import seed as seed
