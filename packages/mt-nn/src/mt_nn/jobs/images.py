"""`Images`: the base class of jobs that classify images of one size."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mt_nn.data import Dataset, TensorDataset
from mt_nn.errors import FileError, InputError, packages_needed
from mt_nn.files.reading import open_plain
from mt_nn.files.writing import write_atomically
from mt_nn.jobs.classification import Answer, Classification, answers
from mt_nn.train.history import as_png, make_figure
from mt_nn.train.trainer import Trainer
from mt_tensor import Tensor, tensor

COLUMNS = 8
EXAMPLES = 40
STEP = (1.25, 1.65)
"""The distances between drawn images, in widths and heights of an image."""


class Images(Classification):
    """Base of jobs that classify images.

    Attributes:
        shape: channels, height and width of an image.
        dark_background: whether images are bright on a dark background, as in MNIST.
    """

    shape: ClassVar[tuple[int, int, int]]
    dark_background: ClassVar[bool] = True
    mistake_columns = ("image", "right class", "predicted class", "probability")
    results = (*Classification.results, "mistakes.png")

    def checked(self, samples: TensorDataset, folder: Path) -> TensorDataset:
        """Return labelled images after checking their size and classes.

        Args:
            samples: the images, shape (N, channels, height, width), and their classes, shape (N,).
            folder: the folder of the files, for messages.

        Raises:
            FileError: the images have another size, or a class is out of range.
        """
        images, labels = samples.tensors
        if images.shape[1:] != self.shape:
            size, own = (" x ".join(map(str, each[1:])) for each in (images.shape[1:], self.shape))
            raise FileError(
                f"{folder} contains images of {size} pixels; this job takes {own} pixels."
            )
        if len(labels) and int(labels.max()) >= len(self.classes):
            raise FileError(
                f"{folder} contains an image of class {int(labels.max())}; the classes of this job "
                f"are 0 to {len(self.classes) - 1}."
            )
        return samples

    def draw(self, figure: Any, trainer: Trainer, batch: Any) -> None:
        """Draw some images with their predicted classes."""
        images, labels = (part[:EXAMPLES] for part in batch)
        figure.suptitle("validation: predicted class (wrong ones in red)")
        self._draw_images(figure, images, answers(trainer.predict([images]), labels))

    def write_mistakes(self, mistakes: Sequence[Answer], samples: Dataset, folder: Path) -> None:
        """Write a table of all mistakes, and a picture of those with the highest probability."""
        super().write_mistakes(mistakes, samples, folder)
        worst = mistakes[:EXAMPLES]
        figure = make_figure(8, 6)
        figure.suptitle(f"test: {len(worst)} of {len(mistakes)} mistakes, the most confident")
        self._draw_images(figure, [samples[each.sample][0] for each in worst], worst)
        write_atomically(folder / "mistakes.png", as_png(figure))

    def _draw_images(self, figure: Any, images: Any, predictions: Sequence[Answer]) -> None:
        """Draw images in rows, each with its predicted class above it.

        All share one pair of axes, because forty axes would take seconds.
        """
        axes = figure.subplots()
        for index, (image, answer) in enumerate(zip(images, predictions, strict=True)):
            row, column = divmod(index, COLUMNS)
            left, top = column * STEP[0], -row * STEP[1]
            pixels = image.numpy().transpose(1, 2, 0).squeeze()
            axes.imshow(
                pixels, cmap="gray_r", vmin=0, vmax=1, extent=(left, left + 1, top - 1, top)
            )
            name, right = self.classes[answer.predicted], self.classes[answer.right]
            wrong = name != right
            short = len(name) + len(right) < 6
            space = " " if short else "\n"
            axes.text(
                left + 0.5,
                top + 0.1,
                f"{name},{space}is {right}" if wrong else name,
                ha="center",
                fontsize=9 if short else 7,
                color="red" if wrong else "black",
            )
        last = EXAMPLES // COLUMNS - 1
        axes.set(xlim=(0, (COLUMNS - 1) * STEP[0] + 1), ylim=(-last * STEP[1] - 1, STEP[1] - 1))
        axes.axis("off")

    def mistake(self, answer: Answer, samples: Dataset) -> tuple[Any, ...]:
        """Return the index of an image, both classes, and the probability."""
        return answer.sample, *self.named(answer)

    def read_input(self, text: str) -> Tensor:
        """Return the image in a file."""
        return tensor(self.load(Path(text)))

    def load(self, path: Path) -> np.ndarray[Any, Any]:
        """Return the image in a file as input of the network, float32 from 0 to 1.

        Images of another size are not resized, so that users notice what the network receives.

        Raises:
            FileError: the file is missing or not an image.
            InputError: the size or the format is not supported.
            MissingPackageError: Pillow is not installed.
        """
        with packages_needed("reading images needs Pillow: pip install 'mt-nn[train]'."):
            from PIL import Image
        channels, height, width = self.shape
        try:
            # Pillow also raises errors for all warnings that matter.
            with warnings.catch_warnings(), open_plain(path) as file:
                warnings.simplefilter("ignore")
                with Image.open(file) as image:
                    self._check(path, image)
                    pixels = np.asarray(image.convert("L" if channels == 1 else "RGB"), np.float32)
        except InputError:
            raise
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            reason = getattr(error, "strerror", None) or "not an image that can be read"
            raise FileError(f"{path}: {reason}.") from error
        pixels = pixels.reshape(height, width, channels).transpose(2, 0, 1) / np.float32(255)
        if self.dark_background and pixels[:, :: height - 1, :: width - 1].min() > 0.5:
            raise InputError(
                f"{path} has a bright background; the network takes images that are bright on a "
                "dark background. Invert it first."
            )
        return np.ascontiguousarray(pixels)

    def _check(self, path: Path, image: Any) -> None:
        """Raise InputError unless the network supports a Pillow image."""
        _, height, width = self.shape
        if image.size != (width, height):
            raise InputError(
                f"{path} has {image.width} x {image.height} pixels; the network takes images of "
                f"{width} x {height}. Crop and scale it first."
            )
        if getattr(image, "n_frames", 1) > 1:
            raise InputError(f"{path} contains {image.n_frames} images: save one of them.")
        if image.mode[0] in "IF":
            raise InputError(f"{path} has more than 8 bits per channel: save it with 8.")
        if image.has_transparency_data and image.convert("RGBA").getextrema()[3][0] < 255:
            raise InputError(f"{path} has transparent pixels: save it with an opaque background.")
