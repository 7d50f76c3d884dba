"""CIFAR-10: color photographs of 32 x 32 pixels.

The publisher's binary version is read from the subfolder `cifar10` of the data folder, where
`mt_nn.data.fetch` stores it. A tenth of the training images is held out for validation.
"""

from __future__ import annotations

from typing import ClassVar

from mt_nn.data import TransformedDataset, cifar10
from mt_nn.data.transforms import Compose, RandomCrop, RandomHorizontalFlip
from mt_nn.jobs.classification import hold_out
from mt_nn.jobs.images import Images
from mt_nn.jobs.job import Parts, Recipe
from mt_nn.train.networks import ResNet9
from mt_operators import Module


class CIFAR10(Images):
    """Classify photographs of four kinds of vehicles and six kinds of animals."""

    about = "CIFAR-10's photographs"
    models: ClassVar = {"resnet9": Recipe(epochs=10, batch_size=128, lr=0.01)}
    classes = (
        *("airplane", "automobile", "bird", "cat", "deer"),
        *("dog", "frog", "horse", "ship", "truck"),
    )
    shape = (3, 32, 32)
    dark_background = False

    def read(self) -> Parts:
        """Return the images in three parts; training images are shifted and flipped at random."""
        images, test = cifar10(self.folder("cifar10"))
        training, validation = hold_out(images)
        augment = Compose([RandomCrop(32, padding=4), RandomHorizontalFlip()])
        return self.in_batches(TransformedDataset(training, augment), validation, test)

    def network(self) -> Module:
        """Return a ResNet."""
        return ResNet9(3)
