"""Linear algebra: singular matrices, factorizations, least squares, ranks and errors."""

import math
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_autodiff import GradientError
from mt_tensor.errors import DomainError, DTypeError, IndexingError, LinAlgError, ShapeError

SINGULAR = {
    "rank 2 of 3": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]],
    "rank 1 of 3": [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 0.0, 0.0]],
    "zeros": [[0.0, 0.0], [0.0, 0.0]],
    "a zero": [[0.0]],
}


@pytest.mark.parametrize("rows", SINGULAR.values(), ids=SINGULAR)
def test_gradient_of_det_of_singular_matrix_is_its_cofactors(rows: Any) -> None:
    x = mt.tensor(rows, dtype="float64", requires_grad=True)
    x.det().backward()
    minors = [
        [np.delete(np.delete(rows, i, 0), j, 1) for j in range(len(rows))] for i in range(len(rows))
    ]
    cofactors = [
        [(-1) ** (i + j) * np.linalg.det(minor) for j, minor in enumerate(row)]
        for i, row in enumerate(minors)
    ]
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), cofactors, atol=1e-12)
    y = mt.zeros(2, 2, requires_grad=True)
    with pytest.raises(GradientError, match="second derivative"):
        y.det().backward(create_graph=True)


def test_inverse_of_singular_matrix_raises_and_its_det_is_zero() -> None:
    x = mt.zeros(2, 2)
    assert x.det().item() == 0
    assert [part.item() for part in x.slogdet()] == [0, -math.inf]
    assert x.logdet().item() == -math.inf
    assert math.isnan((-mt.eye(3)).logdet().item())
    assert x.pinverse().tolist() == [[0, 0], [0, 0]]
    calls = {
        "inv": mt.linalg.inv,
        "inverse": mt.inverse,
        "solve": lambda x: mt.linalg.solve(x, mt.ones(2)),
        "solve_triangular": lambda x: mt.linalg.solve_triangular(x, mt.ones(2, 1), upper=True),
        "slogdet": lambda x: x.requires_grad_().slogdet().logabsdet.backward(),
    }
    for name, call in calls.items():
        with pytest.raises(LinAlgError, match=rf"^{name}\(\): a matrix is .* no inverse\.$"):
            call(x)


@pytest.mark.parametrize("rows", [[[-1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [math.nan, 2.0]]])
def test_cholesky_of_matrix_that_is_not_positive_definite_raises(rows: Any) -> None:
    with pytest.raises(LinAlgError, match=r"^cholesky\(\): a matrix is not positive definite\.$"):
        mt.linalg.cholesky(mt.tensor(rows))


def test_det_that_overflows_is_inf_without_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    assert mt.det(1e20 * mt.eye(4)).item() == math.inf
    assert not recwarn.list


def test_equal_eigenvalues_and_singular_values_have_gradients() -> None:
    x = mt.eye(3, dtype="float64", requires_grad=True)
    mt.linalg.eigvalsh(x * 2).sum().backward()
    np.testing.assert_allclose(np.asarray(x.grad), 2 * np.eye(3), atol=1e-12)
    x = mt.eye(3, dtype="float64", requires_grad=True)
    (mt.linalg.svdvals(x * 2).sum() + mt.linalg.norm(x, 2) * 0).backward()
    np.testing.assert_allclose(np.asarray(x.grad), 2 * np.eye(3), atol=1e-12)


@pytest.mark.parametrize("name", ["svd", "eigh", "qr", "svdvals", "eigvalsh"])
def test_factors_have_memory_of_their_own(name: str) -> None:
    results = getattr(mt.linalg, name)(mt.tensor([[2.0, 1.0], [1.0, 3.0]]))
    for factor in [results] if isinstance(results, mt.Tensor) else results:
        assert factor._base is None
        assert factor._tensor.storage.size == factor.numel()


def test_vander_returns_new_tensor_for_each_shape() -> None:
    for shape in ((3,), (2, 3)):
        powers = mt.linalg.vander(mt.full(shape, 2.0, requires_grad=True), N=4)
        assert powers._base is None
        assert powers.tolist() == np.broadcast_to([1.0, 2.0, 4.0, 8.0], (*shape, 4)).tolist()


@pytest.mark.parametrize("n", [2, 4])
def test_gradient_of_eigenvectors_is_symmetric_as_in_torch(n: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(n)
    values = rng.standard_normal((n, n))
    weights = rng.standard_normal((n, n))  # a loss that depends on the signs of vectors
    ours, theirs = (
        lib.tensor(values + values.T, dtype=lib.float64, requires_grad=True) for lib in (mt, torch)
    )
    vectors, expected = mt.linalg.eigh(ours)[1], torch.linalg.eigh(theirs)[1]
    signs = np.sign((vectors.detach().numpy() * expected.detach().numpy()).sum(0))
    (vectors * mt.tensor(weights * signs)).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 2), (2, 4, 3)])
def test_full_svd_and_qr_match_torch_but_have_no_gradient(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    array = np.random.default_rng(0).standard_normal(shape)
    x = mt.tensor(array)
    u, _, vh = mt.linalg.svd(x)
    assert u.shape[-1] == shape[-2]
    assert vh.shape[-2] == shape[-1]
    np.testing.assert_allclose((u @ u.mT).numpy(), np.eye(shape[-2]) + 0 * u.numpy(), atol=1e-12)
    for mode in ("reduced", "complete", "r"):
        ours, theirs = mt.linalg.qr(x, mode), torch.linalg.qr(torch.tensor(array), mode)
        for our, their in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(our.numpy(), their.numpy(), atol=1e-12)
    x.requires_grad_()
    if shape[-1] != shape[-2]:
        with pytest.raises(GradientError, match="full_matrices=False"):
            mt.linalg.svd(x)
    if shape[-1] < shape[-2]:
        with pytest.raises(GradientError, match="mode='reduced'"):
            mt.linalg.qr(x, "complete")
    with mt.no_grad():
        mt.linalg.svd(x)
        mt.linalg.qr(x, "complete")


def test_solve_treats_right_sides_as_vectors_where_torch_does() -> None:
    torch = pytest.importorskip("torch")
    shapes = [((2, 2), (2,)), ((3, 2, 2), (3, 2)), ((3, 2, 2), (2,)), ((3, 2, 2), (2, 5))]
    shapes += [((2, 2), (3, 2, 5)), ((2, 2), (3, 2)), ((2, 2), (3,)), ((2, 2, 2), (2, 2))]
    for a, b in shapes:
        rng = np.random.default_rng(0)
        arrays = rng.standard_normal(a), rng.standard_normal(b)
        try:
            theirs = torch.linalg.solve(*map(torch.tensor, arrays))
        except RuntimeError:
            with pytest.raises(ShapeError):
                mt.linalg.solve(*map(mt.tensor, arrays))
        else:
            ours = mt.linalg.solve(*map(mt.tensor, arrays))
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-9)


def test_inverse_of_float32_matrix_is_computed_in_float64() -> None:
    hilbert = 1 / (mt.arange(6).unsqueeze(1) + mt.arange(6) + 1)
    assert hilbert.dtype is mt.float32
    expected = np.linalg.inv(hilbert.numpy().astype(np.float64))
    np.testing.assert_allclose(hilbert.inverse().numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("dim", [(0, 1), [2, 0]], ids=repr)
def test_norm_over_two_dims_is_the_matrix_norm(dim: Any) -> None:
    x = mt.arange(8.0).reshape(2, 2, 2)
    assert mt.linalg.norm(x, 1, dim).tolist() == mt.linalg.matrix_norm(x, 1, dim).tolist()
    assert mt.linalg.norm(x, 1, dim[0]).tolist() == mt.linalg.vector_norm(x, 1, dim[0]).tolist()


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -2])
def test_matrix_norm_converts_to_the_given_dtype_first(order: Any) -> None:
    x = mt.tensor([[0.1, 1e-5], [0.3, 0.7]])
    result = mt.linalg.matrix_norm(x, order, dtype=mt.float64)
    assert result.dtype is mt.float64
    assert result.item() == mt.linalg.matrix_norm(x.double(), order).item()
    assert mt.linalg.matrix_norm(x, order).dtype is mt.float32


def test_pinv_ignores_singular_values_below_rtol() -> None:
    x = mt.tensor([[4.0, 0.0], [0.0, 1.0]])
    for inverse in (mt.linalg.pinv(x, rtol=0.5), x.pinverse(0.5)):
        assert inverse.tolist() == [[0.25, 0.0], [0.0, 0.0]]
    assert mt.linalg.pinv(x, rtol=0.1).tolist() == [[0.25, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("name", ["svd", "svdvals", "pinv", "pinverse", "matrix_norm"])
def test_svd_of_infinite_elements_raises(name: str) -> None:
    rows = [[-0.9, 1e30, -0.19, np.inf], [-0.96, 0.8, 0, 0.5], [1e-30, 1, -1, -1.5]]
    call = getattr(mt.linalg, name, None) or getattr(mt, name)
    with pytest.raises(LinAlgError, match=rf"^{name}\(\): .* infinite or nan"):
        call(mt.tensor(rows, dtype="float64"), *(["nuc"] if name == "matrix_norm" else []))


@pytest.mark.parametrize("element", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["eigh", "eigvalsh"])
def test_eigenvalues_of_infinite_or_nan_elements_raise(name: str, element: float) -> None:
    x = mt.tensor([[0.0, 1.0], [1.0, element]])
    call = getattr(mt.linalg, name)
    with pytest.raises(LinAlgError, match=rf"^{name}\(\): .* infinite or nan"):
        call(x)
    lower = mt.tensor([[2.0, element], [0.0, 3.0]])
    np.testing.assert_allclose(mt.linalg.eigvalsh(lower).numpy(), [2, 3])
    np.testing.assert_allclose(mt.linalg.eigvalsh(lower.mT, UPLO="U").numpy(), [2, 3])
    assert mt.linalg.matrix_rank(lower, hermitian=True).item() == 2


def test_slogdet_of_nan_has_sign_zero() -> None:
    sign, logarithm = mt.slogdet(
        mt.tensor([[[1.0, math.nan], [0.0, 2.0]], [[0.0, 1.0], [2.0, 0.0]]])
    )
    assert sign.tolist() == [0, -1]
    assert math.isnan(logarithm[0].item())


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("name", ["solve", "solve_triangular"])
def test_solve_of_shapes_that_do_not_match_raises(name: str, left: bool) -> None:
    arguments = {"upper": True} if name == "solve_triangular" else {}
    with pytest.raises(ShapeError, match=rf"^{name}\(\) of .* do not match"):
        getattr(mt.linalg, name)(mt.eye(3), mt.ones(2, 2), left=left, **arguments)
    if name == "solve":
        with pytest.raises(ShapeError, match=r"of X A = B was given A .* not a matrix"):
            mt.linalg.solve(mt.eye(3), mt.ones(3), left=False)


# --- LU factors -----------------------------------------------------------------------------------

MATRICES = [(3, 3), (2, 4, 3), (3, 5), (2, 1, 2, 4), (1, 1), (0, 3), (3, 0), (2, 0, 3), (0, 2, 2)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", MATRICES)
def test_lu_factors_match_torch(shape: tuple[int, ...], dtype: str) -> None:
    torch = pytest.importorskip("torch")
    array = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    x, y = mt.tensor(array), torch.tensor(array)
    ours, theirs = mt.linalg.lu_factor(x), torch.linalg.lu_factor(y)
    pairs = [
        *zip(ours, theirs, strict=True),
        *zip(mt.linalg.lu(x), torch.linalg.lu(y), strict=True),
        *zip(mt.lu_unpack(*ours), torch.lu_unpack(*theirs), strict=True),
    ]
    for our, their in pairs:
        assert our.shape == tuple(their.shape)
        assert str(our.dtype).split(".")[1] == str(their.dtype).split(".")[1]
        tolerance = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(our.numpy(), their.numpy(), tolerance, tolerance)
    assert ours._fields == ("LU", "pivots")
    assert mt.linalg.lu(x)._fields == ("P", "L", "U")


@pytest.mark.parametrize("shape", MATRICES[:5])
def test_lu_factors_have_first_and_second_derivatives(shape: tuple[int, ...]) -> None:
    x = mt.tensor(np.random.default_rng(1).standard_normal(shape), requires_grad=True)
    assert mt.gradcheck(lambda x: mt.linalg.lu(x)[1:], [x])
    assert mt.gradcheck(lambda x: mt.linalg.lu_factor(x).LU, [x])
    assert mt.gradgradcheck(lambda x: mt.linalg.lu(x)[1:], [x])


def test_lu_with_pivot_false_swaps_no_rows() -> None:
    x = mt.tensor([[2.0, 1.0, 1.0], [4.0, 3.0, 3.0]], dtype="float64", requires_grad=True)
    p, lower, upper = mt.linalg.lu(x, pivot=False)
    assert p.shape == (0,)
    assert lower.tolist() == [[1, 0], [2, 1]]
    assert upper.tolist() == [[2, 1, 1], [0, 1, 1]]
    assert mt.linalg.lu_factor(x, pivot=False).pivots.tolist() == [1, 2]
    assert mt.gradcheck(lambda x: mt.linalg.lu(x, pivot=False)[1:], [x])
    assert not mt.linalg.lu(mt.tensor([[0.0, 1.0], [1.0, 0.0]]), pivot=False).L.isfinite().all()


@pytest.mark.parametrize("rows", SINGULAR.values(), ids=SINGULAR)
def test_lu_factors_singular_matrices_but_lu_solve_raises(rows: Any) -> None:
    x = mt.tensor(rows, dtype="float64", requires_grad=True)
    p, lower, upper = mt.linalg.lu(x)
    np.testing.assert_allclose((p @ lower @ upper).detach().numpy(), rows, atol=1e-15)
    factors, pivots = (each.detach() for each in mt.linalg.lu_factor(x + mt.eye(len(rows))))
    assert mt.linalg.lu_solve(factors, pivots, x.detach()).isfinite().all()
    zeros = mt.zeros_like(x.detach())
    with pytest.raises(LinAlgError, match=r"lu_factor\(\) .*U\[0, 0\] is zero: use linalg.lu"):
        mt.linalg.lu_factor(zeros)
    with pytest.raises(LinAlgError, match="no inverse"):
        mt.linalg.lu_solve(zeros, pivots, x.detach())
    if (upper.diagonal() == 0).any():
        with pytest.raises(LinAlgError, match="no inverse"):
            upper.sum().backward()


def test_lu_unpack_returns_selected_factors_and_checks_pivots() -> None:
    factors = mt.linalg.lu_factor(mt.tensor([[1.0, 2.0], [3.0, 4.0]]))
    p, lower, upper = mt.lu_unpack(*factors, unpack_data=False)
    assert (p.tolist(), lower.shape, upper.shape) == ([[0, 1], [1, 0]], (0,), (0,))
    assert lower is not upper
    p, lower, upper = mt.lu_unpack(*factors, unpack_pivots=False)
    assert (p.shape, lower.shape, upper.tolist()[0]) == ((0,), (2, 2), [3, 4])
    invalid = [
        (factors.pivots + 1, IndexingError, r"lu_unpack\(\) .* from 1 to 2, .*; \[3, 3\] was"),
        (factors.pivots * 0, IndexingError, "from 1 to 2"),
        (factors.pivots.long(), DTypeError, "pivots of int32"),
        (factors.pivots[:1], ShapeError, r"pivots of shape \(2,\)"),
    ]
    for pivots, error, message in invalid:
        with pytest.raises(error, match=message):
            mt.lu_unpack(factors.LU, pivots)


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_lu_solve_matches_torch(left: bool, adjoint: bool) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    shapes: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((3, 3), (3, 3)), ((2, 3, 3), (3, 3))]
    shapes += [((2, 1, 3, 3), (4, 3, 3)), ((3, 3), (0, 3) if not left else (3, 0))]
    for a, b in shapes:
        found = []
        matrix, right = rng.standard_normal(a), rng.standard_normal(b)
        for library in (mt, torch):
            x, y = library.tensor(matrix), library.tensor(right)
            x.requires_grad_(), y.requires_grad_()
            solved = library.linalg.lu_solve(
                *library.linalg.lu_factor(x), y, left=left, adjoint=adjoint
            )
            grads = library.autograd.grad((solved * solved).sum(), [x, y])
            found.append([solved.detach().numpy(), *(each.numpy() for each in grads)])
        for ours, theirs in zip(*found, strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, 1e-8, 1e-8)
    with pytest.raises(ShapeError, match="do not match"):
        mt.linalg.lu_solve(*mt.linalg.lu_factor(mt.eye(2)), mt.ones(3, 3), left=left)


# --- Ranks and least squares ----------------------------------------------------------------------


@pytest.mark.parametrize("driver", [None, "gelsy", "gels", "gelsd", "gelss"])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((4, 2), (4, 3)),
        ((2, 4), (2, 3)),
        ((3, 3), (3,)),
        ((2, 4, 2), (2, 4, 3)),
        ((2, 4, 2), (2, 4)),
        ((2, 0, 3), (2, 0, 1)),
    ],
)
def test_lstsq_matches_torch(a: Any, b: Any, driver: str | None) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    matrix, right = rng.standard_normal(a), rng.standard_normal(b)
    found, grads = [], []
    for library in (mt, torch):
        x, y = library.tensor(matrix), library.tensor(right)
        x.requires_grad_(), y.requires_grad_()
        results = library.linalg.lstsq(x, y, driver=driver)
        found.append(results)
        if x.numel():
            total = (results.solution**2).sum() + (results.residuals * 0.5).sum()
            grads.append(library.autograd.grad(total, [x, y]))
    assert found[0]._fields == ("solution", "residuals", "rank", "singular_values")
    pairs = [*zip(*found, strict=True), *(zip(*grads, strict=True) if grads else [])]
    for ours, theirs in pairs:
        assert ours.shape == tuple(theirs.shape)
        np.testing.assert_allclose(
            ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-12
        )
    assert found[0].rank.dtype is mt.int64


def test_lstsq_of_rank_deficient_matrix_matches_torch_or_raises() -> None:
    torch = pytest.importorskip("torch")
    rows, ones = [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], [[1.0]] * 3
    for driver in ("gelsy", "gelsd", "gelss"):
        ours = mt.linalg.lstsq(mt.tensor(rows), mt.tensor(ones), driver=driver)
        theirs = torch.linalg.lstsq(torch.tensor(rows), torch.tensor(ones), driver=driver)
        for our, their in zip(ours, theirs, strict=True):
            assert our.shape == tuple(their.shape)
            np.testing.assert_allclose(our.numpy(), their.numpy(), 1e-5, 1e-5)
    with pytest.raises(LinAlgError, match=r"^lstsq\(\) with the driver 'gels' .* full rank: use"):
        mt.linalg.lstsq(mt.tensor(rows), mt.tensor(ones), driver="gels")
    x = mt.tensor([[1.0, 0.0], [0.0, 1e-3]])
    for rcond, rank in ((None, 2), (-1, 2), (0.01, 1)):
        found = mt.linalg.lstsq(x, mt.ones(2), rcond)
        assert (found.rank.item(), found.solution[0].item()) == (rank, 1)
        assert found.solution[1].item() == pytest.approx(1000 * (rank - 1))
    assert mt.linalg.lstsq(x, mt.ones(2), 0.01, driver="gels").solution[1].item() == (
        pytest.approx(1000)
    )


def test_lstsq_has_first_and_second_derivatives() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((4, 2), (2, 4), (3, 3)):
        x = mt.tensor(rng.standard_normal((2, rows, columns)), requires_grad=True)
        y = mt.tensor(rng.standard_normal((2, rows, 2)), requires_grad=True)
        assert mt.gradcheck(lambda x, y: mt.linalg.lstsq(x, y).solution, [x, y])
        assert mt.gradgradcheck(lambda x, y: mt.linalg.lstsq(x, y).solution, [x, y])


def test_lstsq_rejects_bad_arguments() -> None:
    x = mt.ones(3, 2)
    with pytest.raises(ShapeError, match="the same number of rows"):
        mt.linalg.lstsq(x, mt.ones(2))
    with pytest.raises(DomainError, match="'gelsx' was given"):
        mt.linalg.lstsq(x, mt.ones(3), driver="gelsx")
    with pytest.raises(DTypeError, match="one dtype"):
        mt.linalg.lstsq(x, mt.ones(3, dtype="float64"))
    with pytest.raises(LinAlgError, match="infinite or nan"):
        mt.linalg.lstsq(x, mt.ones(3) * math.nan)
    with pytest.raises(TypeError, match="rcond"):
        mt.linalg.lstsq(x, mt.ones(3), "0.1")  # type: ignore[arg-type]


@pytest.mark.parametrize("hermitian", [False, True])
def test_matrix_rank_matches_torch(hermitian: bool) -> None:
    torch = pytest.importorskip("torch")
    diagonal = np.array([[4.0, 1.0, -1e-3, 1e-9], [0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 1.0, 1.0]])
    array = np.stack([np.diag(row) for row in diagonal]).astype(np.float32)
    settings: list[dict[str, Any]] = [
        {},
        {"atol": 0.0},
        {"atol": 0.5},
        {"rtol": 0.5},
        {"atol": 1e-4, "rtol": 0.1},
        {"tol": 2e-4},
    ]
    for each in settings:
        ours = mt.linalg.matrix_rank(mt.tensor(array), hermitian=hermitian, **each)
        theirs = torch.linalg.matrix_rank(torch.tensor(array), hermitian=hermitian, **each)
        assert (ours.tolist(), ours.dtype) == (theirs.tolist(), mt.int64), each
    for limits in ([0.5, 0.0, 2.0], [1e-4]):
        for name in ("atol", "rtol"):
            ours = mt.linalg.matrix_rank(
                mt.tensor(array), hermitian=hermitian, **{name: mt.tensor(limits)}
            )
            theirs = torch.linalg.matrix_rank(
                torch.tensor(array), hermitian=hermitian, **{name: torch.tensor(limits)}
            )
            assert ours.tolist() == theirs.tolist()
    assert mt.linalg.matrix_rank(mt.eye(3), 0.5).item() == 3
    for shape in ((2, 0, 3), (0, 3), (0, 2, 2)):
        ours = mt.linalg.matrix_rank(mt.zeros(shape))
        assert ours.tolist() == torch.linalg.matrix_rank(torch.zeros(shape)).tolist()
    with pytest.raises(LinAlgError, match="infinite or nan"):
        mt.linalg.matrix_rank(mt.eye(2) * math.inf, hermitian=hermitian)
    with pytest.raises(TypeError, match="tol, or atol and rtol"):
        mt.linalg.matrix_rank(mt.eye(3), 0.5, atol=0.5)
    with pytest.raises(ShapeError, match="square"):
        mt.linalg.matrix_rank(mt.ones(2, 3), hermitian=True)


def test_compiled_function_factorizes_at_each_call() -> None:
    @mt.compile
    def step(x: mt.Tensor, y: mt.Tensor) -> Any:
        factors = mt.linalg.lu_factor(x)
        rank = mt.linalg.matrix_rank(x)
        return mt.linalg.lu_solve(*factors, y), mt.linalg.lstsq(x, y).solution, rank

    rng = np.random.default_rng(0)
    for _ in range(3):
        x, y = mt.tensor(rng.standard_normal((3, 3))), mt.tensor(rng.standard_normal((3, 2)))
        for found in step(x, y)[:2]:
            np.testing.assert_allclose(found.numpy(), mt.linalg.solve(x, y).numpy(), 1e-9)
        assert step(x * 0 + mt.eye(3), y)[2].item() == 3
