"""MNIST and Fashion-MNIST: grey images of 28 x 28 points, of digits and of clothes.

Their publishers' four files lie in `mnist` or `fashion-mnist` of the data folder, where
`mt_nn.data.fetch` puts them. A tenth of the images to learn from is held out for the validation.
"""

from __future__ import annotations

from typing import ClassVar

from mt_nn.core.lenet import LeNet
from mt_nn.data import Dataset, TransformedDataset
from mt_nn.data.formats.images import labelled_images
from mt_nn.data.formats.texts import find_optional
from mt_nn.data.transforms import Compose, RandomCrop, RandomHorizontalFlip
from mt_nn.jobs.classification import divided
from mt_nn.jobs.images import Images
from mt_nn.jobs.job import Parts, Recipe
from mt_nn.train.networks import ResNet9
from mt_operators import Module


class MNIST(Images):
    """Tells ten digits apart.

    Attributes:
        published: the name of the data set, and of its folder.
    """

    about = "MNIST's handwritten digits; --model resnet9 is slower and more accurate"
    models: ClassVar = {
        "lenet": Recipe(epochs=12, batch_size=64, lr=0.004),
        "resnet9": Recipe(epochs=8, batch_size=128, lr=0.01),
    }
    classes = tuple("0123456789")
    shape = (1, 28, 28)
    published: ClassVar[str] = "mnist"

    def read(self) -> Parts:
        """Return the images in three parts; a ResNet learns from variants of them."""
        images, test = self.images()
        training, validation = divided(images)
        if self.settings.model == "resnet9":
            return self.in_batches(TransformedDataset(training, self.variants()), validation, test)
        return self.in_batches(training, validation, test)

    def images(self) -> tuple[Dataset, Dataset]:
        """Return those to learn from, and those of the test.

        Where the 60,000 training images are missing, the test is a tenth of the 10,000 others.
        """
        folder = self.folder(self.published)
        others = self.checked(labelled_images(folder, "t10k"), folder)
        if not find_optional(folder, "train-images-idx3-ubyte"):
            return divided(others)
        return self.checked(labelled_images(folder, "train"), folder), others

    def variants(self) -> Compose:
        """Return what makes another image of one: moved by up to two points."""
        return Compose([RandomCrop(28, padding=2)])

    def network(self) -> Module:
        """Return a LeNet or a ResNet."""
        if self.settings.model == "resnet9":
            return ResNet9(1)
        return LeNet(28, channels=(16, 32), hidden=128)


class Fashion(MNIST):
    """Tells ten kinds of clothes apart."""

    about = "Fashion-MNIST's images of clothes; --model resnet9 is slower and more accurate"
    classes = (
        *("T-shirt", "trousers", "pullover", "dress", "coat"),
        *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
    )
    published = "fashion-mnist"

    def variants(self) -> Compose:
        """Return what makes another image of one: moved, and every second one mirrored."""
        return Compose([RandomCrop(28, padding=2), RandomHorizontalFlip()])
