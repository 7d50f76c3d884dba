"""Random numbers of kernels, compared with the backend `numpy`."""

import pytest

import mt_tensor as mt
from mt_fast.random_numbers.philox import BLOCKS_AT_ONCE, KERNEL_FROM

BLOCK = {"float32": 8, "float64": 4}


@pytest.mark.parametrize("parallel", [False, True], ids=["serial", "parallel"])
@pytest.mark.parametrize("position", [0, 2**32 - 2, 2**63 - 1, 2**64 - 9, 2**64])
@pytest.mark.parametrize("dtype", BLOCK)
def test_rand_matches_numpy_at_any_position(dtype, position, parallel, monkeypatch):
    """Sizes end inside and at the end of a block; block numbers have one or more words."""
    monkeypatch.setattr(mt.get_backend("fast"), "parallel_from", 1 if parallel else 2**60)
    ours, theirs = mt.Generator(), mt.Generator()
    for generator in (ours, theirs):
        generator.set_state({"seed": 2**65 + 3, "blocks": position})
    full = -(-KERNEL_FROM // (BLOCKS_AT_ONCE * BLOCK[dtype])) * BLOCKS_AT_ONCE * BLOCK[dtype]
    for size in (3, KERNEL_FROM - 1, KERNEL_FROM, full, full + 1, full + BLOCK[dtype] - 1):
        drawn = mt.rand(size, dtype=dtype, generator=ours, backend="fast")
        expected = mt.rand(size, dtype=dtype, generator=theirs, backend="numpy")
        assert (drawn.numpy() == expected.numpy()).all(), size
        assert ours.get_state() == theirs.get_state()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rand_of_16_bit_dtypes_matches_numpy(dtype):
    ours, theirs = (mt.Generator().manual_seed(3) for _ in range(2))
    drawn = mt.rand(2 * KERNEL_FROM, dtype=dtype, generator=ours, backend="fast")
    expected = mt.rand(2 * KERNEL_FROM, dtype=dtype, generator=theirs, backend="numpy")
    assert drawn.tolist() == expected.tolist()


def test_compiled_function_draws_new_numbers_in_each_call():
    @mt.compile
    def noise():
        return mt.rand(2 * KERNEL_FROM, backend="fast")

    mt.manual_seed(5)
    drawn = [noise().tolist() for _ in range(3)]
    mt.manual_seed(5)
    assert drawn == [mt.rand(2 * KERNEL_FROM).tolist() for _ in range(3)]
