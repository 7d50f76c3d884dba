"""Products of vectors and matrices compared with torch: values, dtypes, gradients, errors."""

import itertools
import math
import string
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.errors import DTypeError, LinAlgError, ShapeError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.c:UserWarning")

LIBRARIES = (mt, torch)
Shape = tuple[int, ...]


def arrays(shapes: tuple[Shape, ...], dtype: str) -> list[Any]:
    rng = np.random.default_rng(len(shapes))
    return [rng.integers(-4, 5, shape).astype(dtype) for shape in shapes]


def in_both(values: list[Any], requires_grad: bool = False) -> tuple[list[Any], list[Any]]:
    """Return the same tensors in both libraries."""
    ours = [mt.tensor(array, requires_grad=requires_grad) for array in values]
    theirs = [torch.tensor(array, requires_grad=requires_grad) for array in values]
    return ours, theirs


def numpy_of(x: Any) -> Any:
    return x.detach().numpy()


def attempt(call: Callable[..., Any], library: Any, args: list[Any]) -> Any:
    """Return the result of a call, or None if it raises."""
    try:
        return call(library, *args)
    except (TypeError, ValueError, IndexError, RuntimeError):
        return None


def compare(call: Callable[..., Any], *shapes: Shape, dtype: str = "float64") -> None:
    """Check that a call has equal results and gradients, or raises, in both libraries."""
    floating = dtype.startswith("float")
    inputs = in_both(arrays(shapes, dtype), floating)
    results = [attempt(call, lib, args) for lib, args in zip(LIBRARIES, inputs, strict=True)]
    assert (results[0] is None) == (results[1] is None), results
    if results[0] is None:
        return
    ours, theirs = results
    assert f"torch.{ours.dtype.name}" == str(theirs.dtype)
    assert ours.shape == tuple(theirs.shape)
    tolerance = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}.get(dtype, 0)
    np.testing.assert_allclose(numpy_of(ours), numpy_of(theirs), tolerance, tolerance)
    if dtype != "float64" or not ours.requires_grad:
        return
    weights = np.cos(np.arange(math.prod(ours.shape))).reshape(ours.shape)
    ours.backward(mt.tensor(weights))
    theirs.backward(torch.tensor(weights))
    for x, y in zip(*inputs, strict=True):
        assert (x.grad is None) == (y.grad is None)
        if x.grad is not None:
            np.testing.assert_allclose(numpy_of(x.grad), numpy_of(y.grad), 1e-9, 1e-9)


BINARY: dict[str, list[tuple[Shape, Shape]]] = {
    "dot": [((3,), (3,)), ((0,), (0,)), ((3,), (4,)), ((1,), (3,)), ((3, 1), (3,)), ((), ())],
    "vdot": [((3,), (3,)), ((3,), (2,))],
    "mv": [((2, 3), (3,)), ((2, 3), (2,)), ((0, 3), (3,)), ((2, 0), (0,)), ((3,), (3,))],
    "mm": [((2, 3), (3, 4)), ((2, 3), (2, 3)), ((2, 0), (0, 3)), ((3,), (3,)), ((1, 2, 3), (3, 2))],
    "bmm": [
        ((2, 1, 3), (2, 3, 2)),
        ((2, 1, 3), (1, 3, 2)),
        ((2, 3), (3, 2)),
        ((0, 2, 3), (0, 3, 1)),
        ((2, 1, 3), (2, 2, 2)),
    ],
    "outer": [((3,), (2,)), ((0,), (2,)), ((3, 1), (2,)), ((), (2,))],
    "ger": [((3,), (2,)), ((2, 2), (2,))],
    "inner": [
        ((3,), (3,)),
        ((2, 3), (4, 3)),
        ((2, 1, 3), (3,)),
        ((), (2, 3)),
        ((2,), ()),
        ((2, 3), (2,)),
        ((2, 0), (3, 0)),
        ((0, 2), (3, 2)),
    ],
    "kron": [((2, 3), (2, 2)), ((2,), (2, 1, 3)), ((), (3,)), ((), ()), ((0, 2), (2, 2))],
    "cross": [
        ((2, 3), (2, 3)),
        ((3, 2), (3, 2)),
        ((3, 3), (3, 3)),
        ((3,), (3,)),
        ((2, 2), (2, 2)),
        ((3,), (2, 3)),
        ((0, 3), (0, 3)),
    ],
    "matmul": [((2, 3), (3,)), ((2, 1, 2, 3), (4, 3, 2)), ((), (3,))],
}
CALLS = [(name, pair) for name, pairs in BINARY.items() for pair in pairs]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "uint8"])
@pytest.mark.parametrize(("name", "shapes"), CALLS)
def test_binary_product_matches_torch(name: str, shapes: tuple[Shape, Shape], dtype: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch: the default dim of cross will change
        compare(lambda lib, a, b: getattr(lib, name)(a, b), *shapes, dtype=dtype)
        compare(lambda lib, a, b: getattr(a, name)(b), *shapes, dtype=dtype)


@pytest.mark.parametrize("name", ["dot", "mv", "mm", "bmm", "outer", "kron", "trace"])
def test_product_of_bool_matches_torch(name: str) -> None:
    shapes = (*BINARY[name][0],) if name in BINARY else ((2, 2),)
    compare(lambda lib, *args: getattr(lib, name)(*args), *shapes, dtype="bool")


@pytest.mark.parametrize("shapes", [((1,), ()), ((), (1,)), ((2,), (2,)), ((), ())])
def test_kron_promotes_0d_tensors_as_torch_does(shapes: tuple[Shape, Shape]) -> None:
    dtypes = [
        lib.kron(lib.ones(shapes[0], dtype=lib.float16), lib.ones(shapes[1])).dtype
        for lib in (mt, torch)
    ]
    assert str(dtypes[1]) == f"torch.{dtypes[0].name}"


def test_int64_products_are_exact() -> None:
    for pair in ([2**53 + 1, -1], [2**62, 2**62 + 3]):
        row, column = mt.tensor([pair]), mt.tensor([[1], [1]])
        assert (row @ column).tolist() == torch.tensor([pair]).mm(torch.tensor([[1], [1]])).tolist()
        assert row[0].dot(column[:, 0]).tolist() == (row @ column).item()
        assert mt.einsum("ij,jk->ik", row, column).tolist() == (row @ column).tolist()


def test_products_promote_mixed_dtypes() -> None:
    """torch raises instead."""
    a, b = mt.tensor([1, 2]), mt.tensor([0.5, 1.5])
    for result in (mt.dot(a, b), mt.einsum("i,i", a, b), mt.inner(a, b)):
        assert result.dtype is mt.float32
        assert result.item() == 3.5


@pytest.mark.parametrize("dim", [0, 1, -1, 2])
def test_cross_with_dim_matches_torch(dim: int) -> None:
    for shapes in (((3, 3), (3, 3)), ((1, 3), (4, 3)), ((3, 1), (3, 2)), ((2, 3), (2, 2))):
        compare(lambda lib, a, b: lib.cross(a, b, dim=dim), *shapes)
        compare(lambda lib, a, b: lib.linalg.cross(a, b, dim=dim), *shapes)
    compare(lambda lib, a, b: lib.linalg.cross(a, b), (2, 3), (2, 3))


@pytest.mark.parametrize("shape", [(2, 2), (3, 1), (0, 3), (3,), (2, 2, 2)])
@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "int64"])
def test_trace_matches_torch(shape: Shape, dtype: str) -> None:
    compare(lambda lib, x: lib.trace(x), shape, dtype=dtype)
    compare(lambda lib, x: x.trace(), shape, dtype=dtype)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_matrix_power_matches_torch(n: int, dtype: str) -> None:
    for shape in ((2, 2), (3, 2, 2), (0, 0), (2, 3), (2,)):
        compare(lambda lib, x: lib.matrix_power(x, n) + x * 0, shape, dtype=dtype)
    x = mt.eye(2)
    assert mt.matrix_power(x, 1) is not x


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (3, 4)),
        ((2, 3), (3, 1), (1, 4), (4, 2)),
        ((3,), (3, 2), (2,)),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((2, 3),),
        ((2, 3), (2, 3)),
        ((2,), (2, 3), (2,)),
        ((2, 2), (2, 2, 2)),
        ((2, 2), (2,), (2, 2)),
    ],
)
def test_multi_dot_and_chain_matmul_match_torch(shapes: tuple[Shape, ...]) -> None:
    compare(lambda lib, *args: lib.linalg.multi_dot(args), *shapes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch deprecates it
        compare(lambda lib, *args: lib.chain_matmul(*args), *shapes)


def test_multi_dot_uses_the_cheapest_order(monkeypatch: pytest.MonkeyPatch) -> None:
    from mt_tensor.products import vectors

    costs = []

    def matmul_and_count(a: Any, b: Any) -> Any:
        costs.append(a.shape[0] * a.shape[1] * b.shape[1])
        return mt.matmul(a, b)

    monkeypatch.setattr(vectors, "matmul", matmul_and_count)
    sizes = [30, 35, 15, 5, 10, 20, 25]  # the example of Cormen et al., section 15.2
    mt.linalg.multi_dot([mt.ones(n, m) for n, m in itertools.pairwise(sizes)])
    assert sum(costs) == 15125


@pytest.mark.parametrize(
    ("shapes", "dims"),
    [
        (((2, 3), (3, 4)), 1),
        (((2, 3), (3, 4)), 0),
        (((4, 2, 3), (2, 3, 5)), 2),
        (((2, 3), (3, 4)), ([0], [1])),
        (((2, 3, 4), (4, 2)), ([0, -1], [1, 0])),
        (((2, 1), (3, 2)), 1),
        (((2, 3), (1, 2)), ([1], [0])),
        (((2, 3), (2, 3)), ([], [])),
        (((2, 3), (3, 4)), 3),
        (((2, 3), (3, 4)), -1),
        (((2, 3), (3, 4)), ([0, 1], [1])),
        (((2, 3), (3, 4)), ([0], [0])),
        (((2, 3), (3, 4)), ([2], [0])),
        (((), ()), 0),
    ],
)
def test_tensordot_matches_torch(shapes: tuple[Shape, Shape], dims: Any) -> None:
    compare(lambda lib, a, b: lib.tensordot(a, b, dims=dims), *shapes)


ADDMM_LIKE: dict[str, list[tuple[Shape, Shape, Shape]]] = {
    "addmm": [
        ((2, 2), (2, 3), (3, 2)),
        ((2,), (2, 3), (3, 2)),
        ((), (2, 3), (3, 2)),
        ((2, 1), (2, 3), (3, 2)),
        ((3,), (2, 3), (3, 2)),
        ((1, 2, 2), (2, 3), (3, 2)),
        ((2, 2), (2, 3), (2, 3)),
        ((2, 2), (2, 0), (0, 2)),
    ],
    "addmv": [((2,), (2, 3), (3,)), ((), (2, 3), (3,)), ((3,), (2, 3), (3,))],
    "addr": [((2, 3), (2,), (3,)), ((3,), (2,), (3,)), ((2, 2), (2,), (3,))],
    "addbmm": [((1, 2), (2, 1, 3), (2, 3, 2)), ((2,), (2, 2, 3), (2, 3, 2))],
    "baddbmm": [((2, 1, 2), (2, 1, 3), (2, 3, 2)), ((2,), (2, 2, 3), (2, 3, 2))],
}


@pytest.mark.parametrize("factors", [{}, {"beta": 2, "alpha": 3}, {"beta": 0}, {"alpha": 0}])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("name", ADDMM_LIKE)
def test_addmm_and_similar_match_torch(name: str, dtype: str, factors: dict[str, Any]) -> None:
    for shapes in ADDMM_LIKE[name]:
        compare(lambda lib, *args: getattr(lib, name)(*args, **factors), *shapes, dtype=dtype)
        compare(lambda lib, x, *rest: getattr(x, name)(*rest, **factors), *shapes, dtype=dtype)
    if dtype == "float64":
        fractions = {key: value + 0.5 for key, value in factors.items()}
        compare(lambda lib, *args: getattr(lib, name)(*args, **fractions), *ADDMM_LIKE[name][0])


@pytest.mark.parametrize("name", ADDMM_LIKE)
def test_in_place_addmm_and_similar_match_torch(name: str) -> None:
    # addbmm_ with a smaller tensor is left out: torch resizes the tensor in this function only
    for shapes in ADDMM_LIKE[name][: 1 if name == "addbmm" else None]:
        inputs = in_both(arrays(shapes, "int64"))
        results = [
            attempt(lambda _, x, *rest: getattr(x, f"{name}_")(*rest, beta=2, alpha=3), lib, args)
            for lib, args in zip(LIBRARIES, inputs, strict=True)
        ]
        assert (results[0] is None) == (results[1] is None)
        if results[0] is not None:
            assert results[0] is inputs[0][0]
            assert results[0].tolist() == results[1].tolist()


def test_addmm_with_beta_0_ignores_nan_in_input() -> None:
    for library in LIBRARIES:
        x = library.full((2, 2), math.nan)
        assert (
            library.addmm(x, library.ones(2, 1), library.ones(1, 2), beta=0).tolist()
            == [[1, 1]] * 2
        )


def test_cosine_similarity_matches_torch() -> None:
    for shapes in (((2, 3), (2, 3)), ((4, 3), (1, 3)), ((2, 3), (3,)), ((2, 3, 2), (2, 3, 2))):
        compare(lambda lib, a, b: lib.cosine_similarity(a, b + 0.5, dim=1), *shapes)
        compare(lambda lib, a, b: lib.cosine_similarity(a, b + 0.5, dim=-1), *shapes)
    compare(lambda lib, a, b: lib.cosine_similarity(a, b), (2, 3), (2, 3), dtype="int64")
    compare(lambda lib, a, b: lib.cosine_similarity(a * 0, b), (2, 3), (2, 3), dtype="float32")
    compare(lambda lib, a, b: lib.cosine_similarity(a, b, dim=2), (2, 3), (2, 3))


# --- einsum -------------------------------------------------------------------------------------


@st.composite
def equations(draw: Any) -> tuple[str, tuple[Shape, ...]]:
    """Return a valid equation and the shapes of its operands."""
    letters = "abcDe"
    size = {letter: draw(st.integers(0, 3)) for letter in letters}
    dots = draw(st.lists(st.integers(1, 2), max_size=2))
    texts, shapes = [], []
    for _ in range(draw(st.integers(1, 4))):
        labels = draw(st.lists(st.sampled_from(letters), max_size=3))
        shape = [size[x] for x in labels]
        for i, label in enumerate(labels):  # a label that occurs once may have size 1
            if labels.count(label) == 1 and draw(st.integers(0, 4)) == 0:
                shape[i] = 1
        if dots and draw(st.booleans()):
            count = draw(st.integers(0, len(dots)))
            at = draw(st.integers(0, len(labels)))
            sizes = [n if draw(st.booleans()) else 1 for n in dots[len(dots) - count :]]
            shape[at:at] = sizes
            labels[at:at] = ["..."]
        texts.append("".join(labels))
        shapes.append(tuple(shape))
    equation = ",".join(texts)
    if draw(st.booleans()):
        used = sorted(set(equation) & set(letters))
        output = draw(st.permutations(used))[: draw(st.integers(0, len(used)))] if used else []
        if draw(st.booleans()):
            output = [*output, "..."]
        equation += "->" + "".join(output)
    return equation, tuple(shapes)


@given(equations())
def test_einsum_of_random_equations_matches_torch(drawn: tuple[str, tuple[Shape, ...]]) -> None:
    equation, shapes = drawn
    compare(lambda lib, *args: lib.einsum(equation, *args), *shapes)


@example("ij- >")
@example("i j -> j i")
@example(". ..->")
@given(st.text(alphabet="ij.,-> A1", max_size=8))
def test_einsum_accepts_the_same_strings_as_torch(equation: str) -> None:
    compare(lambda lib, *args: lib.einsum(equation, *args), *[(2, 2)] * (1 + equation.count(",")))


SUBLISTS: list[tuple[tuple[Shape, ...], list[Any]]] = [
    (((2, 3), (3, 2)), [[0, 1], [1, 2], [0, 2]]),
    (((2, 3), (3, 2)), [[5, 3], [3, 4]]),
    (((2, 3), (3, 2)), [[0, ...], [..., 0], [...]]),
    (((2, 2),), [[0, 0]]),
    (((2, 2),), [[0, 0], [1]]),
]


@pytest.mark.parametrize(("shapes", "lists"), SUBLISTS)
def test_einsum_with_integer_sublists_matches_torch(
    shapes: tuple[Shape, ...], lists: list[Any]
) -> None:
    def call(library: Any, *args: Any) -> Any:
        mixed = [item for pair in zip(args, lists, strict=False) for item in pair]
        return library.einsum(*mixed, *lists[len(args) :])

    compare(call, *shapes)


def test_einsum_contracts_many_operands_in_a_cheap_order() -> None:
    """From left to right, this chain of matrices would need a huge intermediate tensor."""
    letters = string.ascii_lowercase[:11]
    terms = [f"{a}{b}" for a, b in itertools.pairwise(letters)]
    terms = terms[::2] + terms[1::2]  # matrices of the chain are far apart
    operands = [mt.ones(8, 8, dtype="float64") for _ in terms]
    result = mt.einsum(",".join(terms) + "->a", *operands)
    assert result.tolist() == [8.0**10] * 8


def test_einsum_passes_gradgradcheck() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (
        mt.tensor(rng.standard_normal(s), requires_grad=True) for s in ((2, 3), (3, 2), (2,))
    )
    assert mt.gradgradcheck(lambda a, b, c: mt.einsum("ij,ji,i->j", a, b, c), [a, b, c])


INVALID: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: mt.matrix_power(mt.ones(2, 2), -1), LinAlgError, "singular"),
    (
        lambda: mt.addmm(*[mt.ones(2, 2).long()] * 3, alpha=0.5),
        DTypeError,
        "alpha=0.5 does not fit",
    ),
    (lambda: mt.linalg.multi_dot([]), ShapeError, "0 was given"),
]


@pytest.mark.parametrize(("call", "error", "message"), INVALID)
def test_invalid_call_that_torch_accepts_raises(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
