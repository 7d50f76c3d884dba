"""Transforms of images, with torchvision's names: calls that are put in a row by `Compose`.

Images are tensors of shape (..., channels, height, width). One call treats all of them alike, also
where it draws random numbers. Those come from the current default generator, which in a loader
belongs to the batch, and which `use_generator` sets elsewhere.
"""

from mt_nn.data.transforms.color import ColorJitter, Grayscale, RandomGrayscale
from mt_nn.data.transforms.cropping import (
    CenterCrop,
    Pad,
    RandomCrop,
    RandomErasing,
    RandomHorizontalFlip,
    RandomVerticalFlip,
)
from mt_nn.data.transforms.resizing import RandomResizedCrop, Resize
from mt_nn.data.transforms.transform import (
    Compose,
    ImageTransform,
    Lambda,
    Normalize,
    RandomApply,
    RandomChoice,
    ToTensor,
)
from mt_nn.data.transforms.warping import RandomAffine, RandomRotation

# fmt: off
__all__ = [
    "CenterCrop", "ColorJitter", "Compose", "Grayscale", "ImageTransform", "Lambda", "Normalize",
    "Pad", "RandomAffine", "RandomApply", "RandomChoice", "RandomCrop", "RandomErasing",
    "RandomGrayscale", "RandomHorizontalFlip", "RandomResizedCrop", "RandomRotation",
    "RandomVerticalFlip", "Resize", "ToTensor",
]
# fmt: on
