"""A table of the methods of `Tensor` that the core defines.

A method is a function whose first argument is the tensor; `attribute` turns one into a property.
`register_methods` binds all of them to `Tensor`. `mt_tensor/methods.py` continues this table with
the methods that are defined outside the core.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from mt_autodiff.core.registration import register_methods
from mt_tensor.core import (
    conversion,
    gathering,
    rows,
    subscripts,
    sums,
    views,
    windows,
)
from mt_tensor.core import matmul as products
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.rows import operator_method, reflected_method
from mt_tensor.core.tensor import Tensor

Value = TypeVar("Value")


class attribute(property, Generic[Value]):  # noqa: N801 - used like `property`
    """A property whose type is the annotated return type of its function."""

    if TYPE_CHECKING:

        def __init__(self, fget: Callable[[Tensor], Value]) -> None: ...

        def __get__(  # type: ignore[override]
            self, instance: Any, owner: type | None = None
        ) -> Value: ...

        def __set__(self, instance: Any, value: NoReturn) -> None: ...


class CoreMethods:  # noqa: PLW1641 - `Tensor` has a `__hash__`
    """The table that `register_methods` reads."""

    __slots__ = ()

    # --- Elements ---------------------------------------------------------------------------------

    _cast = conversion.cast
    _numbers = conversion._numbers
    clone = conversion.clone
    contiguous = conversion.contiguous
    item = conversion.item
    numpy = conversion.numpy
    tolist = conversion.tolist
    _uploaded = conversion._uploaded

    # --- Indexing ---------------------------------------------------------------------------------

    __getitem__ = subscripts.__getitem__
    gather = gathering.gather

    # --- Shapes -----------------------------------------------------------------------------------

    expand = views.expand
    mT = attribute(views.mT)  # noqa: N815
    permute = views.permute
    reshape = views.reshape
    squeeze = views.squeeze
    T = attribute(views.T)
    transpose = views.transpose
    unsqueeze = views.unsqueeze
    view = views.view
    unfold = windows.unfold

    # --- Python's operators -----------------------------------------------------------------------

    __add__, __radd__ = operator_method("add"), reflected_method("add")
    __sub__, __rsub__ = operator_method("sub"), reflected_method("sub")
    __mul__, __rmul__ = operator_method("mul"), reflected_method("mul")
    __truediv__, __rtruediv__ = operator_method("div"), reflected_method("div")
    __pow__, __rpow__ = operator_method("pow"), reflected_method("pow")

    # Comparisons have no reflected form: Python calls the opposite one, `x > 2.0` for `2.0 < x`.
    __lt__ = operator_method("lt")
    __le__ = operator_method("le")
    __gt__ = operator_method("gt")
    __ge__ = operator_method("ge")
    __eq__ = operator_method("eq")  # type: ignore[assignment]
    __ne__ = operator_method("ne")  # type: ignore[assignment]

    __neg__ = operator_method("neg")
    __abs__ = operator_method("abs")
    __matmul__ = products.__matmul__

    def __operator__(self, name: str, operands: tuple[Any, ...]) -> Tensor:
        """Apply an operator of the table; functions of `mt_operators` dispatch to this method."""
        return elementwise(name, *operands)

    # --- The operator table -----------------------------------------------------------------------

    exp = rows.exp
    expit = rows.sigmoid
    isnan = rows.isnan
    log = rows.log
    logical_and = rows.logical_and
    logical_or = rows.logical_or
    maximum = rows.maximum
    relu = rows.relu
    sigmoid = rows.sigmoid
    sqrt = rows.sqrt
    tanh = rows.tanh

    # --- Reductions and products ------------------------------------------------------------------

    mean = sums.mean
    sum = sums.sum
    sum_to_size = sums.sum_to_size
    matmul = products.matmul


register_methods(Tensor, CoreMethods)
