"""Transforms of images, beside NumPy."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.data.transforms import (
    CenterCrop,
    Compose,
    Lambda,
    Normalize,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomVerticalFlip,
    ToTensor,
)

IMAGE = np.arange(2 * 4 * 5, dtype=np.float32).reshape(2, 4, 5)
SHAPES = [(4, 5), (2, 4, 5), (3, 2, 4, 5)]


def image(shape: tuple[int, ...] = (2, 4, 5)) -> Any:
    return np.random.default_rng(0).random(shape, np.float32)


def test_arrays_become_tensors() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)
    made = ToTensor()(pixels)
    assert (made.shape, made.dtype) == ((3, 4, 5), mt.float32)
    assert np.array_equal(made.numpy(), pixels.transpose(2, 0, 1) / np.float32(255))
    assert ToTensor()(pixels[..., 0]).shape == (1, 4, 5)
    kept = ToTensor()(np.full((2, 2), 300, np.int32))
    assert (kept.dtype, kept.tolist()) == (mt.int32, [[[300, 300], [300, 300]]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_channels_are_normalised(dtype: str) -> None:
    x = image((3, 2, 4, 5)).astype(dtype)
    made = Normalize((0.5, 0.25), [2.0, 4.0])(mt.tensor(x))
    mean, std = np.array([[[0.5]], [[0.25]]], dtype), np.array([[[2]], [[4]]], dtype)
    assert made.dtype.name == dtype
    assert np.array_equal(made.numpy(), (x - mean) / std)
    assert np.array_equal(Normalize([0.5], [1.0])(mt.tensor(x)).numpy(), x - np.asarray(0.5, dtype))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize(
    ("padding", "sides"),
    [
        (2, ((2, 2), (2, 2))),
        ((1, 3), ((3, 3), (1, 1))),
        ([0, 1, 2, 3], ((1, 3), (0, 2))),
        (0, ((0, 0), (0, 0))),
    ],
)
def test_padding(shape: tuple[int, ...], mode: str, padding: Any, sides: Any) -> None:
    x = image(shape)
    made = Pad(padding, fill=7 if mode == "constant" else 0, padding_mode=mode)(mt.tensor(x))
    fill: Any = {"constant_values": 7} if mode == "constant" else {}
    expected = np.pad(x, ((0, 0),) * (x.ndim - 2) + sides, mode, **fill)
    assert np.array_equal(made.numpy(), expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_middle(shape: tuple[int, ...]) -> None:
    x = image(shape)
    assert np.array_equal(CenterCrop(2)(mt.tensor(x)).numpy(), x[..., 1:3, 2:4])
    assert np.array_equal(CenterCrop((4, 3))(mt.tensor(x)).numpy(), x[..., 1:4])
    wide = np.pad(x, ((0, 0),) * (x.ndim - 2) + ((1, 1), (1, 1)))[..., :7]
    assert np.array_equal(CenterCrop((6, 7))(mt.tensor(x)).numpy(), wide)
    assert CenterCrop((2, 8))(mt.tensor(x)).shape == (*shape[:-2], 2, 8)


@pytest.mark.parametrize("shape", SHAPES)
def test_random_crops_are_all_that_there_are(shape: tuple[int, ...]) -> None:
    mt.manual_seed(0)
    x = image(shape)
    crops = {(i, j): x[..., i : i + 3, j : j + 4].tobytes() for i in range(2) for j in range(2)}
    drawn = [RandomCrop((3, 4))(mt.tensor(x)).numpy().tobytes() for _ in range(400)]
    counts = Counter(drawn)
    assert set(counts) == set(crops.values())
    assert all(60 < count < 140 for count in counts.values())


def test_crops_of_padded_images() -> None:
    mt.manual_seed(0)
    x = mt.tensor(IMAGE + 1)
    whole = Pad(1)(x).numpy()
    crop = RandomCrop(4, padding=1)(x).numpy()
    places = [
        (i, j)
        for i in range(3)
        for j in range(4)
        if np.array_equal(crop, whole[:, i : i + 4, j : j + 4])
    ]
    assert len(places) == 1
    assert RandomCrop(7, pad_if_needed=True, fill=3)(x).shape == (2, 7, 7)
    edges = RandomCrop((4, 7), pad_if_needed=True, padding_mode="edge")(x).numpy()
    assert set(edges.reshape(-1).tolist()) == set((IMAGE + 1).reshape(-1).tolist())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("flip", "axis"), [(RandomHorizontalFlip, -1), (RandomVerticalFlip, -2)])
def test_flips(flip: Any, axis: int, shape: tuple[int, ...]) -> None:
    mt.manual_seed(0)
    x = image(shape)
    assert np.array_equal(flip(1.0)(mt.tensor(x)).numpy(), np.flip(x, axis))
    assert np.array_equal(flip(0.0)(mt.tensor(x)).numpy(), x)
    flipped = sum(
        np.array_equal(flip()(mt.tensor(x)).numpy(), np.flip(x, axis)) for _ in range(400)
    )
    assert 150 < flipped < 250


def test_in_a_row_and_by_the_seed() -> None:
    transform = Compose(
        [
            ToTensor(),
            RandomCrop(3, padding=1),
            RandomHorizontalFlip(),
            RandomVerticalFlip(),
            Lambda(lambda x: x * 2),
        ]
    )
    pixels = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    mt.manual_seed(4)
    first = [transform(pixels).tolist() for _ in range(5)]
    mt.manual_seed(4)
    assert [transform(pixels).tolist() for _ in range(5)] == first
    assert first[0] != first[1]
    assert "RandomCrop(size=(3, 3), padding=(1, 1, 1, 1))" in repr(transform)
    for made in (Pad(1), CenterCrop(2)):
        assert repr(made).startswith(type(made).__name__)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pad(-1), "padding is an integer from 0 on"),
        (lambda: Pad((1, 2, 3)), "one, two or four"),
        (lambda: Pad(1, padding_mode="wrap"), "padding_mode is one of constant"),
        (lambda: RandomCrop(3, padding_mode="wrap"), "padding_mode is one of constant"),
        (lambda: CenterCrop(0), "size must be one or two integers from 1"),
        (lambda: RandomCrop((1, 2, 3)), "size must be one or two integers"),
        (lambda: RandomHorizontalFlip(1.5), "must be between 0 and 1"),
        (lambda: RandomVerticalFlip(-0.5), "must be between 0 and 1"),
        (lambda: Normalize([0.5], [0.0]), "none may be 0"),
        (lambda: Normalize([0.5, 0.5], [1.0, 1.0, 1.0]), "2 and 3 were given"),
        (lambda: Normalize([float("nan")], [1.0]), "finite"),
        (lambda: Normalize([], [1.0]), "one or more"),
        (lambda: Compose([3]), "a transform is called"),
        (lambda: Lambda(3), "a transform is called"),
    ],
)
def test_settings_that_are_refused(make: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        make()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ToTensor()(mt.ones(2, 2)), "ToTensor takes an array"),
        (lambda: ToTensor()(np.ones(2)), "ToTensor takes an array"),
        (lambda: Pad(1)(mt.ones(2)), "Pad takes a tensor"),
        (lambda: CenterCrop(1)(np.ones((2, 2))), "CenterCrop takes a tensor"),
        (lambda: RandomCrop(3)(mt.ones(2, 5)), "does not fit into"),
        (lambda: Pad(2, padding_mode="reflect")(mt.ones(2, 5)), "too small"),
        (lambda: Pad((3, 0), padding_mode="symmetric")(mt.ones(9, 2)), "too small"),
        (lambda: Pad(1, padding_mode="edge")(mt.ones(0, 2)), "too small"),
        (lambda: Normalize([0.5], [1.0])(mt.ones(2, 2)), "channels, height, width"),
        (lambda: Normalize([0.5], [1.0])(mt.ones(1, 2, 2).to("int32")), "int32 was given"),
        (lambda: Normalize([0.5] * 2, [1.0])(mt.ones(3, 2, 2)), "has 3 channel"),
        (lambda: RandomHorizontalFlip()(3), "takes a tensor"),
    ],
)
def test_images_that_are_refused(call: Any, message: str) -> None:
    with pytest.raises(nn.InputError, match=message):
        call()
