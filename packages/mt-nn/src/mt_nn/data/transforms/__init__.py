"""Image transforms, with the names and settings of torchvision; chain them with `Compose`.

Images are tensors of shape (..., channels, height, width). One call transforms all images in the
same way, with the same random numbers. They are drawn from the current generator, which in a loader
belongs to the batch; see `use_generator`.
"""

# fmt: off
from mt_nn.data.transforms.color import ColorJitter, Grayscale
from mt_nn.data.transforms.cropping import (
    CenterCrop, Pad, RandomCrop, RandomHorizontalFlip, RandomVerticalFlip,
)
from mt_nn.data.transforms.rotation import RandomRotation
from mt_nn.data.transforms.resizing import RandomResizedCrop, Resize
from mt_nn.data.transforms.transform import (
    Compose, ImageTransform, Normalize, ToTensor,
)

__all__ = [
    "CenterCrop", "ColorJitter", "Compose", "Grayscale", "ImageTransform", "Normalize", "Pad",
    "RandomCrop", "RandomHorizontalFlip", "RandomResizedCrop", "RandomRotation",
    "RandomVerticalFlip", "Resize", "ToTensor",
]
