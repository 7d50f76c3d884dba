"""Functions that transform functions, as in `torch.func` and JAX: gradients, Jacobians and `vmap`.

Each returns a function, so that they compose: `grad(grad(f))` is the second derivative, and
`vmap(grad(loss), in_dims=(None, 0))` the gradient for each sample. Arguments may be nested tuples,
lists and dictionaries of tensors, such as the parameters of a module by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mt_autodiff import enable_grad
from mt_autodiff.core.mode import recording
from mt_tensor.autograd import gradients
from mt_tensor.autograd.checkpointing import differentiable_in, leaves_of
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, ShapeError
from mt_tensor.movement.joining import stack
from mt_tensor.programs.pytree import leaves_in, map_leaves

__all__ = ["grad", "grad_and_value", "hessian", "jacrev", "vjp", "vmap"]

Argnums = int | tuple[int, ...]
"""The positions of the arguments to differentiate with respect to."""


class _Point:
    """A call of a function at arguments that are differentiated.

    Attributes:
        chosen: the arguments to differentiate with respect to; a tuple if `argnums` is one.
        value: the result of the function.
        rest: its second result, if `has_aux`.
    """

    def __init__(
        self, func: Callable[..., Any], argnums: Argnums, has_aux: bool, args: Any, kwargs: Any
    ) -> None:
        every = list(args)
        for at in argnums if isinstance(argnums, tuple) else (argnums,):
            if not -len(args) <= at < len(args):
                raise DomainError(f"argnums is {argnums}, but {len(args)} argument(s) were given.")
            every[at] = map_leaves(every[at], _variable)
        self.chosen: Any
        if isinstance(argnums, tuple):
            self.chosen = tuple([every[at] for at in argnums])
        else:
            self.chosen = every[argnums]
        self._inputs = differentiable_in(self.chosen)
        with enable_grad():
            returned = func(*every, **kwargs)
        self.value: Any
        self.rest: Any
        self.value, self.rest = returned if has_aux else (returned, None)
        check_results(getattr(func, "__name__", "the function"), *leaves_in(self.value))
        # Record gradients if the result also depends on other leaves.
        input_ids = {id(x) for x in self._inputs}
        others = [x for x in leaves_of(differentiable_in(self.value)) if id(x) not in input_ids]
        self._is_recorded = recording.get() and bool(others)

    def gradient(self, outputs: Sequence[Tensor], weights: Sequence[Tensor | None]) -> Any:
        """Return the gradient of weighted outputs, in the containers of `chosen`."""
        pairs = [(y, w) for y, w in zip(outputs, weights, strict=True) if y.requires_grad]
        found: Sequence[Tensor | None] = [None] * len(self._inputs)
        if pairs and self._inputs:
            dependent, upstream = zip(*pairs, strict=True)
            found = gradients.grad(
                dependent, self._inputs, upstream, True, self._is_recorded, allow_unused=True
            )
        by_id = {id(x): each for x, each in zip(self._inputs, found, strict=True)}

        def of(x: Tensor) -> Tensor:
            gradient = by_id[id(x)]
            return x.new_zeros(x.shape) if gradient is None else gradient

        return map_leaves(self.chosen, of)

    def result(self, value: Any) -> Any:
        """Return values without the graph of the leaves that replaced the arguments."""
        return value if self._is_recorded else map_leaves(value, _detached)


def _variable(x: Any) -> Tensor:
    """Return a tensor to differentiate with respect to: a view, or a leaf."""
    if not isinstance(x, Tensor):
        raise TypeError(
            "the arguments to differentiate with respect to must be tensors; "
            f"{x!r} of type {type(x).__name__} was given. Choose others with argnums."
        )
    is_nested = recording.get() and x.requires_grad
    return x.view(x.shape) if is_nested else x.detach().requires_grad_()


def check_results(name: str, *results: Any) -> None:
    """Raise TypeError unless the results of the function `name` are tensors."""
    for result in results:
        if not isinstance(result, Tensor):
            raise TypeError(
                f"{name} must return tensors; it returned {result!r} of type "
                f"{type(result).__name__}."
            )


def _detached(x: Any) -> Any:
    return x.detach() if isinstance(x, Tensor) else x


def single_number(name: str, result: Any) -> Tensor:
    """Return the result of a function, a tensor of one element, with shape ().

    Raises:
        TypeError: it is not a tensor.
        ShapeError: it has more elements, or none; the message begins with `name`.
    """
    check_results(f"the function given to {name}()", result)
    if result.numel() != 1:
        raise ShapeError(
            f"{name}() takes a function that returns a single number; it returned shape "
            f"{result.shape}. Reduce it, as in result.sum(), or use jacrev()."
        )
    return result.reshape(())  # type: ignore[no-any-return]


def grad(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of a function of one result.

    Args:
        func: a function of tensors in nested containers that returns a tensor of one element.
        argnums: the position of the argument to differentiate with respect to, or a tuple of
            several.
        has_aux: whether `func` returns a pair of this tensor and other values.

    Returns:
        A function with the arguments of `func` that returns the gradient, in the containers of the
        argument; a tuple for a tuple `argnums`; with `has_aux` a pair with the other values.

    Raises:
        ShapeError: on a call of the returned function, if the result of `func` does not have one
            element.
        DomainError: on a call of the returned function, if `argnums` is out of range.
    """
    both = grad_and_value(func, argnums, has_aux)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes a pair of the gradient and the value; see `grad`.

    With `has_aux`, the value is the pair that `func` returns.
    """

    def both(*args: Any, **kwargs: Any) -> Any:
        point = _Point(func, argnums, has_aux, args, kwargs)
        with enable_grad():
            number = single_number("grad", point.value)
        found = point.result(point.gradient([number], [None]))
        value, rest = point.result((point.value, point.rest))
        return found, (value, rest) if has_aux else value

    return both


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Return the value of a function, and a function that computes vector-Jacobian products.

    Args:
        func: a function of tensors in nested containers that returns the same.
        *primals: its arguments.
        has_aux: whether `func` returns a pair of these tensors and other values.

    Returns:
        The value; a function that takes upstream gradients in the containers and shapes of the
        value and returns a tuple of one gradient for each argument; and with `has_aux` the other
        values.

    Raises:
        ShapeError: on a call of the returned function, if the number or a shape of upstream
            gradients is wrong.
    """
    point = _Point(func, tuple(range(len(primals))), has_aux, primals, {})

    def product(cotangents: Any) -> Any:
        outputs, weights = [*leaves_in(point.value)], [*leaves_in(cotangents)]
        if len(outputs) != len(weights):
            raise ShapeError(
                f"the product of vjp() takes one upstream gradient for each of {len(outputs)} "
                f"result(s) of the function; {len(weights)} were given."
            )
        return point.result(point.gradient(outputs, weights))

    value = point.result(point.value)
    return (value, product, point.result(point.rest)) if has_aux else (value, product)


def jacrev(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of a function, row by row.

    >>> import mt_tensor as mt
    >>> jacrev(lambda x: x * x)(mt.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])

    Args:
        func: a function of tensors in nested containers that returns the same.
        argnums: the position of the argument to differentiate with respect to, or a tuple.
        has_aux: whether `func` returns a pair of these tensors and other values.

    Returns:
        A function with the arguments of `func`. It returns the containers of the result, with those
        of the argument in place of each tensor, and in these Jacobians of shape
        (*result.shape, *argument.shape); with `has_aux` a pair with the other values.
    """

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        point = _Point(func, argnums, has_aux, args, kwargs)

        def of(output: Tensor) -> Any:
            if not output.numel():
                return map_leaves(point.chosen, lambda x: x.new_zeros(output.shape + x.shape))
            with enable_grad():
                elements = output.reshape(-1).unbind()
            rows = [point.gradient([element], [None]) for element in elements]
            return map_leaves(_stacked(rows), lambda x: x.reshape(output.shape + x.shape[1:]))

        found = point.result(map_leaves(point.value, of))
        return (found, point.result(point.rest)) if has_aux else found

    return jacobian


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of a function: the Jacobian of its Jacobian."""
    return jacrev(jacrev(func, argnums), argnums)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",  # noqa: ARG001 - each call draws its own numbers
    *,
    chunk_size: int | None = None,  # noqa: ARG001
) -> Callable[..., Any]:
    """Return a function that maps `func` over slices of its arguments and stacks the results.

    The calls are made one after the other: write batched operations where speed matters.

    Args:
        func: a function of tensors in nested containers that returns the same.
        in_dims: the dimension of the slices of all arguments; or one for each argument, which may
            be nested like the argument; None for arguments that are not sliced.
        out_dims: the dimension along which to stack results; or one for each of several results.
        randomness: accepted for compatibility with torch; random numbers differ between slices.
        chunk_size: accepted for compatibility with torch, without effect.

    Raises:
        ShapeError: on a call of the returned function, if no argument has slices, or their numbers
            differ.
        DomainError: on a call of the returned function, if `in_dims` does not fit the arguments.
    """

    def mapped(*args: Any, **kwargs: Any) -> Any:
        dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise DomainError(
                f"vmap() was given in_dims={in_dims!r} for {len(args)} argument(s): pass one for "
                "each."
            )
        named = dict.fromkeys(kwargs, 0)
        sizes = {*_sizes((args, kwargs), (tuple(dims), named))}
        if len(sizes) != 1 or 0 in sizes:
            raise ShapeError(
                "vmap() needs the same positive number of slices in all arguments; "
                f"{sorted(sizes)} were given."
            )
        results = []
        for index in range(*sizes):
            part, keywords = _slice((args, kwargs), (tuple(dims), named), index)
            results.append(func(*part, **keywords))
        if not isinstance(out_dims, tuple):
            return _stacked(results, out_dims)
        parts = zip(zip(*results, strict=True), out_dims, strict=True)
        return tuple([_stacked(part, dim) for part, dim in parts])

    return mapped


def _sizes(value: Any, dims: Any) -> Iterator[int]:
    """Yield the number of slices of each tensor in nested containers."""
    if isinstance(dims, dict):
        for key, dim in dims.items():
            yield from _sizes(value[key], dim)
    elif isinstance(dims, (tuple, list)):
        for each, dim in zip(value, dims, strict=True):
            yield from _sizes(each, dim)
    elif dims is not None:
        for x in leaves_in(value):
            if isinstance(x, Tensor):
                yield x.shape[normalize_dim(dims, x.ndim)]


def _slice(value: Any, dims: Any, index: int) -> Any:
    """Return a slice of each tensor in nested containers."""
    if isinstance(dims, dict):
        return {key: _slice(each, dims[key], index) for key, each in value.items()}
    if isinstance(dims, (tuple, list)):
        parts = [_slice(each, dim, index) for each, dim in zip(value, dims, strict=True)]
        return tuple(parts) if isinstance(value, tuple) else parts
    if dims is None:
        return value
    return map_leaves(value, lambda x: x.select(dims, index) if isinstance(x, Tensor) else x)


def _stacked(values: Sequence[Any], dim: int = 0) -> Any:
    """Stack the tensors of several values with the same containers."""
    first = values[0]
    if isinstance(first, dict):
        return {key: _stacked([each[key] for each in values], dim) for key in first}
    if isinstance(first, (tuple, list)):
        parts = [_stacked(part, dim) for part in zip(*values, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    check_results("the function given to vmap()", *values)
    return stack(list(values), dim)
