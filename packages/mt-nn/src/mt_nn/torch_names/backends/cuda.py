"""`torch.backends.cuda`: the precision of float32 matrix products on a GPU."""

from mt_tensor import get_float32_matmul_precision, set_float32_matmul_precision


class _Products:
    """Settings of matrix products."""

    @property
    def allow_tf32(self) -> bool:
        """Whether factors may be rounded to TF32, which has 10 mantissa bits."""
        return get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        set_float32_matmul_precision("high" if allowed else "highest")


matmul = _Products()
