"""`Images`: the base class of jobs that classify images of a fixed size."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mt_nn.data import TensorDataset
from mt_nn.data.transforms import ToTensor
from mt_nn.errors import FileError, InputError, packages_needed
from mt_nn.files.reading import open_plain
from mt_nn.jobs.classification import Classification
from mt_tensor import Tensor


class Images(Classification):
    """Base class of jobs that classify images.

    Attributes:
        shape: channels, height and width of an image.
        dark_background: whether images are bright on a dark background, as in MNIST.
    """

    shape: ClassVar[tuple[int, int, int]]
    dark_background: ClassVar[bool] = True

    def checked(self, samples: TensorDataset, folder: Path) -> TensorDataset:
        """Return labeled images after checking their size and classes.

        Args:
            samples: the images, shape (N, channels, height, width), and their classes, shape (N,).
            folder: the folder of the files, for messages.

        Raises:
            FileError: the images have another size, or a class is out of range.
        """
        images, labels = samples.tensors
        if images.shape[1:] != self.shape:
            size, expected = (
                " x ".join(map(str, each[1:])) for each in (images.shape[1:], self.shape)
            )
            raise FileError(
                f"{folder} contains images of {size} pixels; this job takes {expected} pixels."
            )
        if len(labels) and int(labels.max()) >= len(self.classes):
            raise FileError(
                f"{folder} contains an image of class {int(labels.max())}; the classes of this job "
                f"are 0 to {len(self.classes) - 1}."
            )
        return samples

    def read_input(self, text: str) -> Tensor:
        """Return the image in a file, float32 from 0 to 1.

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
            with warnings.catch_warnings(), open_plain(Path(text)) as file:
                warnings.simplefilter("ignore")
                with Image.open(file) as image:
                    self._check(text, image)
                    pixels = np.asarray(image.convert("L" if channels == 1 else "RGB"))
        except InputError:
            raise
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            reason = getattr(error, "strerror", None) or "not an image that can be read"
            raise FileError(f"{text}: {reason}.") from error
        if self.dark_background and pixels[:: height - 1, :: width - 1].min() > 127:
            raise InputError(
                f"{text} has a bright background; the network takes images that are bright on a "
                "dark background. Invert it first."
            )
        return ToTensor()(pixels)

    def _check(self, path: str, image: Any) -> None:
        """Raise InputError unless the network supports a Pillow image."""
        _, height, width = self.shape
        if image.size != (width, height):
            raise InputError(
                f"{path} has {image.width} x {image.height} pixels; the network takes images of "
                f"{width} x {height}. Crop and scale it first."
            )
        if getattr(image, "n_frames", 1) > 1:
            raise InputError(
                f"{path} contains {image.n_frames} images: save one of them in a file of its own."
            )
        if image.mode[0] in "IF":
            raise InputError(f"{path} has more than 8 bits per channel: convert it to 8 bits.")
        if image.has_transparency_data and image.convert("RGBA").getextrema()[3][0] < 255:
            raise InputError(f"{path} has transparent pixels: save it with an opaque background.")
