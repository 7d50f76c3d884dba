"""`torch.backends.cuda`: whether products of float32 may be less exact on a GPU."""

from mt_tensor import get_float32_matmul_precision, set_float32_matmul_precision


class _Products:
    """Settings of matrix products."""

    @property
    def allow_tf32(self) -> bool:
        """Return whether numbers may be rounded to 10 bits before they are multiplied."""
        return get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        set_float32_matmul_precision("high" if allowed else "highest")


matmul = _Products()
