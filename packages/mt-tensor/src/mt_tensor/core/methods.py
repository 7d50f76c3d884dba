"""The methods of `Tensor` that the core defines, one line for each.

A method is a function whose first argument is the tensor; `attribute` makes a property of one.
`register_methods` binds all of them to `Tensor` below. `mt_tensor/methods.py` continues this table
with the methods that are defined beside the core.
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
from mt_tensor.core.rows import on_the_left, on_the_right
from mt_tensor.core.tensor import Tensor

Value = TypeVar("Value")


class attribute(property, Generic[Value]):  # noqa: N801 - used like `property`
    """A property whose value has the type that its function is annotated with."""

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

    __add__, __radd__ = on_the_left("add"), on_the_right("add")
    __sub__, __rsub__ = on_the_left("sub"), on_the_right("sub")
    __mul__, __rmul__ = on_the_left("mul"), on_the_right("mul")
    __truediv__, __rtruediv__ = on_the_left("div"), on_the_right("div")
    __pow__, __rpow__ = on_the_left("pow"), on_the_right("pow")

    # A comparison has no reflected form: Python calls the opposite one, `x > 2.0` for `2.0 < x`.
    __lt__ = on_the_left("lt")
    __le__ = on_the_left("le")
    __gt__ = on_the_left("gt")
    __ge__ = on_the_left("ge")
    __eq__ = on_the_left("eq")  # type: ignore[assignment]
    __ne__ = on_the_left("ne")  # type: ignore[assignment]

    __neg__ = on_the_left("neg")
    __abs__ = on_the_left("abs")
    __matmul__ = products.__matmul__

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
