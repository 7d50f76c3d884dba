"""Image transforms compared with NumPy and torch: geometry, colors, randomness, errors."""

import colorsys
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_nn as nn
import mt_tensor as mt
from mt_nn.data import DataLoader, Subset, TensorDataset, TransformedDataset
from mt_nn.data.transforms import (
    CenterCrop,
    ColorJitter,
    Compose,
    Grayscale,
    Normalize,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
    ToTensor,
)

IMAGE = np.arange(2 * 4 * 5, dtype=np.float32).reshape(2, 4, 5)
SHAPES = [(4, 5), (2, 4, 5), (3, 2, 4, 5)]


def image(shape: tuple[int, ...] = (2, 4, 5)) -> Any:
    return np.random.default_rng(0).random(shape, np.float32)


def transform_each(transform: Any, images: mt.Tensor) -> mt.Tensor:
    """Transform each image by a separate call."""
    return mt.stack([transform(image) for image in images.unbind()])


def test_to_tensor_scales_bytes_and_keeps_other_integers() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)
    result = ToTensor()(pixels)
    assert (result.shape, result.dtype) == ((3, 4, 5), mt.float32)
    assert np.array_equal(result.numpy(), pixels.transpose(2, 0, 1) / np.float32(255))
    assert ToTensor()(pixels[..., 0]).shape == (1, 4, 5)
    integers = ToTensor()(np.full((2, 2), 300, np.int32))
    assert (integers.dtype, integers.tolist()) == (mt.int32, [[[300, 300], [300, 300]]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normalize_subtracts_mean_and_divides_by_std(dtype: str) -> None:
    x = image((3, 2, 4, 5)).astype(dtype)
    result = Normalize((0.5, 0.25), [2.0, 4.0])(mt.tensor(x))
    mean, std = np.array([[[0.5]], [[0.25]]], dtype), np.array([[[2]], [[4]]], dtype)
    assert result.dtype.name == dtype
    assert np.array_equal(result.numpy(), (x - mean) / std)
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
def test_pad_matches_numpy(shape: tuple[int, ...], mode: str, padding: Any, sides: Any) -> None:
    x = image(shape)
    result = Pad(padding, fill=7 if mode == "constant" else 0, padding_mode=mode)(mt.tensor(x))
    fill: Any = {"constant_values": 7} if mode == "constant" else {}
    expected = np.pad(x, ((0, 0),) * (x.ndim - 2) + sides, mode, **fill)
    assert np.array_equal(result.numpy(), expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_center_crop_cuts_or_pads_around_the_center(shape: tuple[int, ...]) -> None:
    x = image(shape)
    assert np.array_equal(CenterCrop(2)(mt.tensor(x)).numpy(), x[..., 1:3, 2:4])
    assert np.array_equal(CenterCrop((4, 3))(mt.tensor(x)).numpy(), x[..., 1:4])
    padded = np.pad(x, ((0, 0),) * (x.ndim - 2) + ((1, 1), (1, 1)))[..., :7]
    assert np.array_equal(CenterCrop((6, 7))(mt.tensor(x)).numpy(), padded)
    assert CenterCrop((2, 8))(mt.tensor(x)).shape == (*shape[:-2], 2, 8)


@pytest.mark.parametrize("shape", SHAPES)
def test_random_crop_positions_are_uniform(shape: tuple[int, ...]) -> None:
    mt.manual_seed(0)
    x = image(shape)
    crops = {(i, j): x[..., i : i + 3, j : j + 4].tobytes() for i in range(2) for j in range(2)}
    drawn = [RandomCrop((3, 4))(mt.tensor(x)).numpy().tobytes() for _ in range(400)]
    counts = Counter(drawn)
    assert set(counts) == set(crops.values())
    assert all(60 < count < 140 for count in counts.values())


def test_random_crop_with_padding_is_part_of_the_padded_image() -> None:
    mt.manual_seed(0)
    x = mt.tensor(IMAGE + 1)
    padded = Pad(1)(x).numpy()
    crop = RandomCrop(4, padding=1)(x).numpy()
    matches = [
        (i, j)
        for i in range(3)
        for j in range(4)
        if np.array_equal(crop, padded[:, i : i + 4, j : j + 4])
    ]
    assert len(matches) == 1
    assert RandomCrop(7, pad_if_needed=True, fill=3)(x).shape == (2, 7, 7)
    edges = RandomCrop((4, 7), pad_if_needed=True, padding_mode="edge")(x).numpy()
    assert set(edges.reshape(-1).tolist()) == set((IMAGE + 1).reshape(-1).tolist())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("flip", "axis"), [(RandomHorizontalFlip, -1), (RandomVerticalFlip, -2)])
def test_random_flip_matches_numpy_with_probability_p(
    flip: Any, axis: int, shape: tuple[int, ...]
) -> None:
    mt.manual_seed(0)
    x = image(shape)
    assert np.array_equal(flip(1.0)(mt.tensor(x)).numpy(), np.flip(x, axis))
    assert np.array_equal(flip(0.0)(mt.tensor(x)).numpy(), x)
    flipped = sum(
        np.array_equal(flip()(mt.tensor(x)).numpy(), np.flip(x, axis)) for _ in range(400)
    )
    assert 150 < flipped < 250


def test_to_tensor_of_pillow_image_equals_that_of_its_array() -> None:
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)
    assert np.array_equal(ToTensor()(pillow.fromarray(pixels)).numpy(), ToTensor()(pixels).numpy())


# --- Sizes ----------------------------------------------------------------------------------------


def resized_row(row: Any, new: int) -> list[float]:
    """Resize one row of pixels, pixel by pixel."""
    scale, result = len(row) / new, []
    for pixel in range(new):
        center, radius = (pixel + 0.5) * scale, max(scale, 1.0)
        weights = [max(1 - abs(old + 0.5 - center) / radius, 0.0) for old in range(len(row))]
        result.append(sum(w * x for w, x in zip(weights, row, strict=True)) / sum(weights))
    return result


def resized(plane: Any, size: tuple[int, int]) -> Any:
    rows = np.array([resized_row(row, size[1]) for row in plane])
    return np.array([resized_row(column, size[0]) for column in rows.T]).T


SIZES = [(4, 5), (2, 2), (3, 9), (1, 1), (11, 4), (98, 49)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", SIZES)
def test_resize_matches_reference_for_image_shapes(
    shape: tuple[int, ...], size: tuple[int, int]
) -> None:
    x = image(shape)
    result = Resize(size)(mt.tensor(x)).numpy()
    planes = [resized(plane, size) for plane in x.reshape(-1, 4, 5)]
    assert result.shape == (*shape[:-2], *size)
    np.testing.assert_allclose(result.reshape(-1, *size), planes, atol=1e-6)
    rows, columns = (np.arange(n) * old // n for n, old in zip(size, (4, 5), strict=True))
    nearest = Resize(size, "nearest")(mt.tensor(x)).numpy()
    assert np.array_equal(nearest, x[..., rows, :][..., columns])


@given(st.integers(1, 12), st.integers(1, 30))
def test_resize_matches_reference_for_any_length(old: int, new: int) -> None:
    row = image((1, 1, old))
    result = Resize((1, new))(mt.tensor(row)).numpy()
    np.testing.assert_allclose(result[0, 0], resized_row(row[0, 0], new), atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_resize_matches_torch(size: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    x = image((2, 3, 4, 5))
    for mode in ("bilinear", "nearest"):
        theirs = torch.nn.functional.interpolate(
            torch.tensor(x), size, mode=mode, antialias=mode == "bilinear"
        ).numpy()
        np.testing.assert_allclose(Resize(size, mode)(mt.tensor(x)), theirs, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "settings", "size"),
    [
        ((4, 9), {"size": 2}, (2, 4)),
        ((9, 4), {"size": [2]}, (4, 2)),
        ((4, 4), {"size": 7}, (7, 7)),
    ],
)
def test_resize_with_one_size_sets_the_shorter_side(
    shape: tuple[int, int], settings: Any, size: tuple[int, int]
) -> None:
    assert Resize(**settings)(mt.ones(1, *shape)).shape == (1, *size)


def test_random_resized_crop_respects_scale_and_ratio() -> None:
    mt.manual_seed(0)
    x = image((1, 6, 8))
    boxes = {
        (top, left, rows, columns): resized(x[0, top : top + rows, left : left + columns], (3, 2))
        for rows in range(1, 7)
        for columns in range(1, 9)
        for top in range(7 - rows)
        for left in range(9 - columns)
    }
    transform = RandomResizedCrop((3, 2), scale=(0.2, 0.6), ratio=(0.5, 2.0))
    for crop in transform_each(transform, mt.tensor(x).expand(60, 1, 6, 8)).numpy():
        matches = [box for box, part in boxes.items() if np.allclose(part, crop[0], atol=1e-5)]
        assert any(
            0.15 < rows * columns / 48 < 0.7 and 0.4 < columns / rows < 2.6
            for _, _, rows, columns in matches
        )
    for ratio, part in ((9, x[0, 2:3]), (0.1, x[0, :, 3:4])):  # no crop fits: the center is used
        crop = RandomResizedCrop(2, scale=(1, 1), ratio=(ratio, ratio))(mt.tensor(x)).numpy()[0]
        np.testing.assert_allclose(crop, resized(part, (2, 2)), atol=1e-6)


# --- Rotation, translation, shear -----------------------------------------------------------------


def test_rotations_by_90_degrees_match_rot90() -> None:
    x = image((2, 5, 5))
    for quarters, degrees in enumerate((0, 90, 180, 270)):
        rotated = RandomRotation((degrees, degrees))(mt.tensor(x)).numpy()
        assert np.array_equal(rotated, np.rot90(x, quarters, (1, 2)))
        rotated = RandomRotation((degrees, degrees), "bilinear")(mt.tensor(x)).numpy()
        np.testing.assert_allclose(rotated, np.rot90(x, quarters, (1, 2)), atol=1e-6)
    corner = RandomRotation((180, 180), center=(1, 1), fill=(7, 8))(mt.tensor(x)).numpy()
    assert np.array_equal(corner[:, :2, :2], x[:, 1::-1, 1::-1])
    assert np.array_equal(corner[:, 2:], np.broadcast_to([[[7]], [[8]]], (2, 3, 5)))


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("center", [None, (2.0, 3.5)])
def test_random_rotation_matches_torch_grid_sample(interpolation: str, center: Any) -> None:
    torch = pytest.importorskip("torch")
    x, (height, width) = image((1, 3, 6, 9)).astype(np.float64), (6, 9)
    cos, sin = math.cos(math.radians(20)), math.sin(math.radians(20))
    inverse = np.array([[cos, -sin], [sin, cos]])
    origin = np.array([0, 0]) if center is None else np.subtract(center, (width / 2, height / 2))
    to_unit = np.diag([2 / width, 2 / height])  # torch's grids go from -1 to 1
    offset = to_unit @ (origin - inverse @ origin)
    theta = np.column_stack([to_unit @ inverse @ np.linalg.inv(to_unit), offset])
    grid = torch.nn.functional.affine_grid(torch.tensor(theta)[None], x.shape, align_corners=False)
    theirs = torch.nn.functional.grid_sample(
        torch.tensor(x), grid, mode=interpolation, align_corners=False
    )
    transform = RandomRotation((20, 20), interpolation, center=center)
    np.testing.assert_allclose(transform(mt.tensor(x)), theirs, atol=1e-12)


# --- Colors and erasing ---------------------------------------------------------------------------


def test_grayscale_is_the_weighted_sum_of_channels() -> None:
    x = image((2, 3, 4, 5))
    gray = np.tensordot([0.2989, 0.587, 0.114], x, (0, 1))[:, None]
    np.testing.assert_allclose(Grayscale()(mt.tensor(x)), gray, rtol=1e-6)
    np.testing.assert_allclose(Grayscale(3)(mt.tensor(x)), gray.repeat(3, 1), rtol=1e-6)
    assert np.array_equal(Grayscale()(mt.tensor(x[:, :1])).numpy(), x[:, :1])


def test_color_jitter_matches_formulas_and_colorsys() -> None:
    x = image((3, 4, 5))
    x[:, 0, 0], x[:, 0, 1] = 0.5, (1, 0, 1)
    gray = np.tensordot([0.2989, 0.587, 0.114], x, (0, 0))
    adjusted: dict[str, Any] = {
        "brightness": np.clip(1.5 * x, 0, 1),
        "contrast": np.clip(gray.mean() + 1.5 * (x - gray.mean()), 0, 1),
        "saturation": np.clip(gray + 1.5 * (x - gray), 0, 1),
    }
    for name, expected in adjusted.items():
        result = ColorJitter(**{name: (1.5, 1.5)})(mt.tensor(x))
        np.testing.assert_allclose(result, expected, atol=1e-6)
    for shift in (0.3, -0.5):
        expected = np.empty_like(x)
        for i, j in np.ndindex(4, 5):
            hue, saturation, value = colorsys.rgb_to_hsv(*x[:, i, j].tolist())
            expected[:, i, j] = colorsys.hsv_to_rgb((hue + shift) % 1, saturation, value)
        result = ColorJitter(hue=(shift, shift))(mt.tensor(x))
        np.testing.assert_allclose(result, expected, atol=1e-6)
    assert np.array_equal(ColorJitter()(mt.tensor(x)).numpy(), x)
    gray_result = ColorJitter(0, 0, (2, 2), 0.5)(mt.tensor(x[:1])).numpy()
    np.testing.assert_allclose(gray_result, x[:1], atol=1e-6)


def test_color_jitter_factors_fill_their_range() -> None:
    mt.manual_seed(0)
    gray = mt.full((200, 1, 1, 1), 0.5)
    drawn = transform_each(ColorJitter(brightness=0.4), gray).numpy().reshape(-1) / 0.5
    assert 0.6 <= drawn.min() < 0.65
    assert 1.35 < drawn.max() <= 1.4
    assert ColorJitter(brightness=3).brightness == (0, 4)


# --- Compositions and loaders ---------------------------------------------------------------------


TRANSFORMS: list[Any] = [
    CenterCrop(3),
    ColorJitter(0.5, 0.5, 0.5, 0.5),
    Compose([RandomCrop(3, padding=1), Normalize([0.5], [0.5]), lambda x: x * 2]),
    Grayscale(),
    Normalize([0.5, 0.2, 0.1], [0.5]),
    Pad(1),
    RandomRotation(30, "bilinear"),
    RandomCrop(3),
    RandomHorizontalFlip(),
    RandomResizedCrop(3),
    RandomVerticalFlip(),
    Resize(3),
]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: type(transform).__name__)
def test_one_call_transforms_all_images_alike(transform: Any) -> None:
    x = mt.tensor(image((3, 5, 4)))
    single = transform(x).numpy()
    separate = transform_each(transform, x.expand(24, 3, 5, 4)).numpy()
    assert separate.shape == (24, *single.shape)
    random = "Random" in repr(transform) or isinstance(transform, ColorJitter)
    assert (
        len({image.tobytes() for image in separate}) > 1 if random else (separate == single).all()
    )
    batch = transform(x.expand(2, 2, 3, 5, 4)).numpy()  # random values are drawn once per call
    assert len({image.tobytes() for image in batch.reshape(4, -1)}) == 1
    assert type(transform).__name__ in repr(transform)


def test_loader_transforms_each_image_separately() -> None:
    mt.manual_seed(0)
    data = TensorDataset(mt.tensor([[[1.0, 2.0]]]).expand(64, 1, 1, 2), mt.arange(64))
    flipped = TransformedDataset(data, Compose([RandomHorizontalFlip(), lambda x: x * 2]))
    for dataset in (flipped, Subset(flipped, range(64))):
        ((x, y),) = DataLoader(dataset, 64)
        assert y.tolist() == list(range(64))
        assert {tuple(row) for row in x.view(64, 2).tolist()} == {(2.0, 4.0), (4.0, 2.0)}


def test_seeded_compose_is_reproducible_and_has_a_repr() -> None:
    transform = Compose(
        [
            ToTensor(),
            RandomCrop(3, padding=1),
            RandomHorizontalFlip(),
            RandomVerticalFlip(),
            lambda x: x * 2,
        ]
    )
    pixels = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    mt.manual_seed(4)
    first = [transform(pixels).tolist() for _ in range(5)]
    mt.manual_seed(4)
    assert [transform(pixels).tolist() for _ in range(5)] == first
    assert first[0] != first[1]
    assert "RandomCrop(size=(3, 3), padding=(1, 1, 1, 1), pad_if_needed=False, fill=0, " in repr(
        transform
    )
    for other in (Pad(1), CenterCrop(2)):
        assert repr(other).startswith(type(other).__name__)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pad(-1), "padding must be a non-negative integer"),
        (lambda: Pad((1, 2, 3)), "one, two or four"),
        (lambda: Pad(1, padding_mode="wrap"), "padding_mode must be one of constant"),
        (lambda: RandomCrop(3, padding_mode="wrap"), "padding_mode must be one of constant"),
        (lambda: CenterCrop(0), "size must be one or two positive integers"),
        (lambda: RandomCrop((1, 2, 3)), "size must be one or two positive integers"),
        (lambda: RandomHorizontalFlip(1.5), "must be between 0 and 1"),
        (lambda: RandomVerticalFlip(-0.5), "must be between 0 and 1"),
        (lambda: Normalize([0.5], [0.0]), "std must be different from 0"),
        (lambda: Normalize([0.5, 0.5], [1.0, 1.0, 1.0]), "2 and 3 were given"),
        (lambda: Normalize([float("nan")], [1.0]), "finite"),
        (lambda: Normalize([], [1.0]), "one or more"),
        (lambda: Compose([3]), "a transform must be callable; got 3"),
        (lambda: Resize(0), "size must be a positive integer"),
        (lambda: Resize((1, 2, 3)), "size must be one or two positive integers"),
        (lambda: Resize(3, "cubic"), "interpolation must be one of nearest, bilinear"),
        (lambda: RandomResizedCrop(3, scale=(0.5, 0.1)), "scale must be a pair"),
        (lambda: RandomResizedCrop(3, scale=(0, 0)), "must be above 0"),
        (lambda: RandomResizedCrop(3, ratio=(0, 1)), "must be above 0"),
        (lambda: RandomRotation(-5), "degrees must be a pair"),
        (lambda: RandomRotation(float("inf")), "degrees must be 2 finite numbers"),
        (lambda: RandomRotation(5, center=(1, 2, 3)), "center must be 2 finite numbers"),
        (lambda: Grayscale(2), "num_output_channels must be 1 or 3"),
        (lambda: ColorJitter(brightness=-1), "brightness must be a pair"),
        (lambda: ColorJitter(contrast=(-1, 1)), "contrast must be a pair"),
        (lambda: ColorJitter(hue=0.6), "hue must be a pair"),
        (lambda: ColorJitter(hue=(0.1, 0.6)), "the bounds of hue must be from -0.5 to 0.5"),
    ],
)
def test_transform_with_invalid_setting_raises_setting_error(make: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        make()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ToTensor()(mt.ones(2, 2)), "ToTensor takes an array"),
        (lambda: ToTensor()(np.ones(2)), "ToTensor takes an array"),
        (lambda: Pad(1)(mt.ones(2)), "Pad takes a tensor"),
        (lambda: CenterCrop(1)(np.ones((2, 2))), "CenterCrop takes a tensor"),
        (lambda: RandomCrop(3)(mt.ones(2, 5)), "does not fit an image"),
        (lambda: Pad(2, padding_mode="reflect")(mt.ones(2, 5)), "too small"),
        (lambda: Pad((3, 0), padding_mode="symmetric")(mt.ones(9, 2)), "too small"),
        (lambda: Pad(1, padding_mode="edge")(mt.ones(0, 2)), "too small"),
        (lambda: Normalize([0.5], [1.0])(mt.ones(2, 2)), "channels, height, width"),
        (lambda: Normalize([0.5], [1.0])(mt.ones(1, 2, 2).to("int32")), "int32 was given"),
        (lambda: Normalize([0.5] * 2, [1.0])(mt.ones(3, 2, 2)), "has 3 channel"),
        (lambda: RandomHorizontalFlip()(3), "takes a tensor"),
        (lambda: Resize(3)(mt.ones(1, 2, 2).byte()), "uint8 was given"),
        (lambda: Resize(3)(mt.ones(1, 0, 2)), "takes non-empty images"),
        (lambda: RandomRotation(3)(mt.ones(1, 2, 2).byte()), "uint8 was given"),
        (
            lambda: RandomRotation(3, fill=(1, 2))(mt.ones(3, 2, 2)),
            "fill of RandomRotation has 2 numbers",
        ),
        (
            lambda: Grayscale()(mt.ones(2, 2, 2)),
            "images of 1 or 3 channels; shape .2, 2, 2. was given",
        ),
        (lambda: CenterCrop(2)([0.0]), "2 dimensions; list was given. Convert arrays"),
        (lambda: Grayscale()(mt.ones(2, 2)), "takes a tensor of shape"),
        (lambda: ColorJitter(0.5)(mt.ones(3, 2, 2).byte()), "uint8 was given"),
    ],
)
def test_unsupported_input_raises_input_error(call: Any, message: str) -> None:
    with pytest.raises(nn.InputError, match=message):
        call()
