"""Four random numbers from the seed 3, the same on each backend and from NumPy's generator.

Stage 0 uses Python's generator, which returns other numbers.
"""

from typing import Any

SEED = 3


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_tensor.core.generator import use_generator

    with use_generator(mt.Generator().manual_seed(SEED)):
        return mt.rand(4), None


def cuda() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_cuda import Simulator
    from mt_cuda.extending import CudaOps

    with mt.use_backend(CudaOps(Simulator())):
        return tensor()


def nn() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_nn.saving.checkpoint import Generators
    from mt_tensor.core.generator import use_generator

    with use_generator(mt.Generator().manual_seed(SEED)):
        saved = Generators().state_dict()
        mt.rand(100)
        Generators().load_state_dict(saved)
        return mt.rand(4), None


def reference() -> tuple[Any, Any]:
    import numpy as np

    return np.random.Generator(np.random.Philox(SEED)).random(4, np.float32), None
