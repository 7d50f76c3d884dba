"""Random numbers drawn by all threads match NumPy, at any position of a sequence."""

import pytest

import mt_tensor as mt
from mt_fast.random_numbers.philox import TOGETHER, WORTH_DRAWING

BLOCK = {"float32": 8, "float64": 4}


@pytest.mark.parametrize("parallel", [False, True], ids=["serial", "parallel"])
@pytest.mark.parametrize("far", [0, 2**32 - 2, 2**63 - 1, 2**64 - 9, 2**64])
@pytest.mark.parametrize("dtype", BLOCK)
def test_numbers_match_numpy(dtype, far, parallel, monkeypatch):
    """Also at the end of a block, and if its number has more than one word."""
    monkeypatch.setattr(mt.get_backend("fast"), "parallel_from", 1 if parallel else 2**60)
    here, host = mt.Generator(), mt.Generator()
    for generator in (here, host):
        generator.set_state({"seed": 2**65 + 3, "blocks": far})
    whole = -(-WORTH_DRAWING // (TOGETHER * BLOCK[dtype])) * TOGETHER * BLOCK[dtype]
    for size in (3, WORTH_DRAWING - 1, WORTH_DRAWING, whole, whole + 1, whole + BLOCK[dtype] - 1):
        drawn = mt.rand(size, dtype=dtype, generator=here, backend="fast")
        expected = mt.rand(size, dtype=dtype, generator=host, backend="numpy")
        assert (drawn.numpy() == expected.numpy()).all(), size
        assert here.get_state() == host.get_state()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_dtypes_match_numpy(dtype):
    here, host = (mt.Generator().manual_seed(3) for _ in range(2))
    drawn = mt.rand(2 * WORTH_DRAWING, dtype=dtype, generator=here, backend="fast")
    expected = mt.rand(2 * WORTH_DRAWING, dtype=dtype, generator=host, backend="numpy")
    assert drawn.tolist() == expected.tolist()


def test_a_program_draws_new_numbers_each_time():
    @mt.compile
    def noise():
        return mt.rand(2 * WORTH_DRAWING, backend="fast")

    mt.manual_seed(5)
    drawn = [noise().tolist() for _ in range(3)]
    mt.manual_seed(5)
    assert drawn == [mt.rand(2 * WORTH_DRAWING).tolist() for _ in range(3)]
