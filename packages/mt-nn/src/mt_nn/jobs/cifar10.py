"""CIFAR-10: colour photographs of 32 x 32 points.

Its publisher's binary version lies in `cifar10` of the data folder, where `mt_nn.data.fetch` puts
it. A tenth of the images to learn from is held out for the validation.
"""

from __future__ import annotations

from typing import ClassVar

from mt_nn.data import TransformedDataset, cifar10
from mt_nn.data.transforms import Compose, RandomCrop, RandomHorizontalFlip
from mt_nn.jobs.classification import divided
from mt_nn.jobs.images import Images
from mt_nn.jobs.job import Parts, Recipe
from mt_nn.train.networks import ResNet9
from mt_operators import Module


class CIFAR10(Images):
    """Tells four kinds of vehicles and six of animals apart."""

    about = "CIFAR-10's photographs"
    models: ClassVar = {"resnet9": Recipe(epochs=10, batch_size=128, lr=0.01)}
    classes = (
        *("airplane", "automobile", "bird", "cat", "deer"),
        *("dog", "frog", "horse", "ship", "truck"),
    )
    shape = (3, 32, 32)
    dark_ground = False

    def read(self) -> Parts:
        """Return the images in three parts, the first of variants: moved, and mirrored."""
        images, test = cifar10(self.folder("cifar10"))
        training, validation = divided(images)
        variants = Compose([RandomCrop(32, padding=4), RandomHorizontalFlip()])
        return self.in_batches(TransformedDataset(training, variants), validation, test)

    def network(self) -> Module:
        """Return a ResNet."""
        return ResNet9(3)
