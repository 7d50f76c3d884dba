"""Linear algebra where it is not smooth, and what it refuses; the samples compare it with torch."""

import math
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_autodiff import GradientError
from mt_tensor.errors import LinAlgError, ShapeError

SINGULAR = {
    "rank 2 of 3": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]],
    "rank 1 of 3": [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 0.0, 0.0]],
    "zeros": [[0.0, 0.0], [0.0, 0.0]],
    "a zero": [[0.0]],
}


@pytest.mark.parametrize("rows", SINGULAR.values(), ids=SINGULAR)
def test_the_derivatives_of_a_determinant_are_cofactors(rows: Any) -> None:
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


def test_singular_matrices_have_determinants_but_no_inverse() -> None:
    x = mt.zeros(2, 2)
    assert x.det().item() == 0
    assert [part.item() for part in x.slogdet()] == [0, -math.inf]
    assert x.logdet().item() == -math.inf
    assert math.isnan((-mt.eye(3)).logdet().item())
    assert x.pinverse().tolist() == [[0, 0], [0, 0]]
    for call in (mt.inverse, lambda x: mt.linalg.solve(x, mt.ones(2))):
        with pytest.raises(LinAlgError, match="no inverse"):
            call(x)
    with pytest.raises(LinAlgError, match="not positive definite"):
        mt.linalg.cholesky(-mt.eye(2))


def test_equal_eigenvalues_have_a_gradient() -> None:
    x = mt.eye(3, dtype="float64", requires_grad=True)
    mt.linalg.eigvalsh(x * 2).sum().backward()
    np.testing.assert_allclose(np.asarray(x.grad), 2 * np.eye(3), atol=1e-12)
    x = mt.eye(3, dtype="float64", requires_grad=True)
    (mt.linalg.svdvals(x * 2).sum() + mt.linalg.norm(x, 2) * 0).backward()
    np.testing.assert_allclose(np.asarray(x.grad), 2 * np.eye(3), atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 2), (2, 4, 3)])
def test_full_factors(shape: tuple[int, ...]) -> None:
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


def test_which_right_sides_are_vectors() -> None:
    torch = pytest.importorskip("torch")
    shapes = [((2, 2), (2,)), ((3, 2, 2), (3, 2)), ((3, 2, 2), (2,)), ((3, 2, 2), (2, 5))]
    shapes += [((2, 2), (3, 2, 5)), ((2, 2), (3, 2)), ((2, 2), (3,)), ((2, 2, 2), (2, 2))]
    for a, b in shapes:
        rng = np.random.default_rng(0)
        given = rng.standard_normal(a), rng.standard_normal(b)
        try:
            theirs = torch.linalg.solve(*map(torch.tensor, given))
        except RuntimeError:
            with pytest.raises(ShapeError):
                mt.linalg.solve(*map(mt.tensor, given))
        else:
            ours = mt.linalg.solve(*map(mt.tensor, given))
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-9)


def test_float32_is_computed_in_float64() -> None:
    hilbert = 1 / (mt.arange(6).unsqueeze(1) + mt.arange(6) + 1)
    assert hilbert.dtype is mt.float32
    wanted = np.linalg.inv(hilbert.numpy().astype(np.float64))
    np.testing.assert_allclose(hilbert.inverse().numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("dim", [(0, 1), [2, 0]], ids=repr)
def test_a_norm_over_two_dimensions_is_that_of_matrices(dim: Any) -> None:
    x = mt.arange(8.0).reshape(2, 2, 2)
    assert mt.linalg.norm(x, 1, dim).tolist() == mt.linalg.matrix_norm(x, 1, dim).tolist()
    assert mt.linalg.norm(x, 1, dim[0]).tolist() == mt.linalg.vector_norm(x, 1, dim[0]).tolist()


def test_singular_values_below_a_share_of_the_largest_count_as_zero() -> None:
    x = mt.tensor([[4.0, 0.0], [0.0, 1.0]])
    for inverse in (mt.linalg.pinv(x, rtol=0.5), x.pinverse(0.5)):
        assert inverse.tolist() == [[0.25, 0.0], [0.0, 0.0]]
    assert mt.linalg.pinv(x, rtol=0.1).tolist() == [[0.25, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("name", ["svd", "svdvals", "pinv", "matrix_norm"])
def test_infinities_have_no_singular_values(name: str) -> None:
    endless = [[-0.9, 1e30, -0.19, np.inf], [-0.96, 0.8, 0, 0.5], [1e-30, 1, -1, -1.5]]
    call = getattr(mt.linalg, name)
    with pytest.raises(LinAlgError, match="infinite or nan"):
        call(mt.tensor(endless, dtype="float64"), *(["nuc"] if name == "matrix_norm" else []))
