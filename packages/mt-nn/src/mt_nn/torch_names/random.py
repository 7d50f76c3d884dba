"""`torch.random`: random generators."""

# ruff: noqa: I001 - several names on a line
# fmt: off
from mt_tensor import (
    Generator as Generator, default_generator as default_generator,
    get_rng_state as get_rng_state, initial_seed as initial_seed, manual_seed as manual_seed,
    set_rng_state as set_rng_state,
)
from mt_tensor.extending import fork_rng as fork_rng
from mt_tensor.extending import seed as seed
