"""MNIST and Fashion-MNIST: grayscale images of 28 x 28 pixels, of digits and of clothes.

The publishers' four files are read from the subfolder `mnist` or `fashion-mnist` of the data
folder, where `mt_nn.data.fetch` stores them. A tenth of the training images is held out for
validation.
"""

from __future__ import annotations

from typing import ClassVar

from mt_nn.core.lenet import LeNet
from mt_nn.data import Dataset, TransformedDataset
from mt_nn.data.formats.images import labelled_images
from mt_nn.data.formats.texts import find_optional
from mt_nn.data.transforms import Compose, RandomCrop, RandomHorizontalFlip
from mt_nn.jobs.classification import hold_out
from mt_nn.jobs.images import Images
from mt_nn.jobs.job import Parts, Recipe
from mt_nn.train.networks import ResNet9
from mt_operators import Module


class MNIST(Images):
    """Classify handwritten digits.

    Attributes:
        published: the name of the data set and of its folder.
        augmentation: applied to the training images of a ResNet.
    """

    about = "MNIST's handwritten digits; --model resnet9 is slower and more accurate"
    models: ClassVar = {
        "lenet": Recipe(epochs=12, batch_size=64, lr=0.004),
        "resnet9": Recipe(epochs=8, batch_size=128, lr=0.01),
    }
    classes = tuple("0123456789")
    shape = (1, 28, 28)
    published: ClassVar[str] = "mnist"
    augmentation: ClassVar = Compose([RandomCrop(28, padding=2)])

    def read(self) -> Parts:
        """Return the images in three parts; a ResNet is trained with data augmentation."""
        images, test = self.images()
        training: Dataset
        training, validation = hold_out(images)
        if self.settings.model == "resnet9":
            training = TransformedDataset(training, self.augmentation)
        return self.in_batches(training, validation, test)

    def images(self) -> tuple[Dataset, Dataset]:
        """Return the training and the test images.

        If the files of 60,000 training images are missing, a tenth of the 10,000 others is used for
        the test, and the rest for training.
        """
        folder = self.folder(self.published)
        test = self.checked(labelled_images(folder, "t10k"), folder)
        if not find_optional(folder, "train-images-idx3-ubyte"):
            return hold_out(test)
        return self.checked(labelled_images(folder, "train"), folder), test

    def network(self) -> Module:
        """Return a LeNet or a ResNet."""
        if self.settings.model == "resnet9":
            return ResNet9(1)
        return LeNet(28, channels=(16, 32), hidden=128)


class Fashion(MNIST):
    """Classify images of clothes."""

    about = "Fashion-MNIST's images of clothes; --model resnet9 is slower and more accurate"
    classes = (
        *("T-shirt", "trousers", "pullover", "dress", "coat"),
        *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
    )
    published = "fashion-mnist"
    augmentation = Compose([RandomCrop(28, padding=2), RandomHorizontalFlip()])
