"""Reading and writing by index as methods of `Tensor`: `x.gather(0, i)` is `gather(x, 0, i)`."""

from __future__ import annotations

from mt_tensor.indexing import filling, finding, gathering, scattering
from mt_tensor.tensor import Tensor


class IndexingMethods(Tensor):
    """The functions of four modules, whose first argument is the tensor itself."""

    __slots__ = ()

    gather = gathering.gather
    index_select = gathering.index_select
    scatter_add = gathering.scatter_add

    argwhere = finding.argwhere
    masked_select = finding.masked_select
    nonzero = finding.nonzero
    take = finding.take
    take_along_dim = finding.take_along_dim

    index_add = scattering.index_add
    index_reduce = scattering.index_reduce
    scatter = scattering.scatter
    scatter_reduce = scattering.scatter_reduce

    diagonal_scatter = filling.diagonal_scatter
    index_copy = filling.index_copy
    index_fill = filling.index_fill
    index_put = filling.index_put
    masked_scatter = filling.masked_scatter
    put = filling.put
    select_scatter = filling.select_scatter
    slice_scatter = filling.slice_scatter
