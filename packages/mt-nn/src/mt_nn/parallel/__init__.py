"""Training by several processes at once, on one machine or on many, over MPI.

    mpiexec -n 4 python train.py

It is imported by whoever trains so, and not by `import mt_nn`.
"""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
