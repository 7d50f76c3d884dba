"""Linear algebra under the names of `torch.linalg`.

The last two dimensions are matrices; all others are batch dimensions. Everything except products
and norms that need no singular values runs on the host in float64, mostly in NumPy's LAPACK.
Gradients are composed of tensor operations, so they are differentiable.
"""

# fmt: off
from mt_tensor.core.matmul import matmul
from mt_tensor.errors import LinAlgError
from mt_tensor.linalg.factors import cholesky, eigh, eigvalsh, qr, svd, svdvals
from mt_tensor.linalg.least_squares import lstsq, matrix_rank
from mt_tensor.linalg.lu import lu, lu_factor, lu_solve
from mt_tensor.linalg.norms import matrix_norm, norm, vector_norm
from mt_tensor.linalg.products import cross, diagonal, matrix_power, vander, vecdot
from mt_tensor.linalg.systems import det, inv, pinv, slogdet, solve, solve_triangular
from mt_tensor.products.vectors import multi_dot

__all__ = [
    "LinAlgError", "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "lstsq",
    "lu", "lu_factor", "lu_solve", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd", "svdvals",
    "vander", "vecdot", "vector_norm",
]
