"""What users find in `mt_nn.data.transforms`, and where it is defined."""

from mt_nn.data.transforms.color import ColorJitter as ColorJitter
from mt_nn.data.transforms.color import Grayscale as Grayscale
from mt_nn.data.transforms.color import RandomGrayscale as RandomGrayscale
from mt_nn.data.transforms.composing import Compose as Compose
from mt_nn.data.transforms.composing import Lambda as Lambda
from mt_nn.data.transforms.composing import RandomApply as RandomApply
from mt_nn.data.transforms.composing import RandomChoice as RandomChoice
from mt_nn.data.transforms.converting import Normalize as Normalize
from mt_nn.data.transforms.converting import ToTensor as ToTensor
from mt_nn.data.transforms.cropping import CenterCrop as CenterCrop
from mt_nn.data.transforms.cropping import Pad as Pad
from mt_nn.data.transforms.cropping import RandomCrop as RandomCrop
from mt_nn.data.transforms.cropping import RandomHorizontalFlip as RandomHorizontalFlip
from mt_nn.data.transforms.cropping import RandomVerticalFlip as RandomVerticalFlip
from mt_nn.data.transforms.erasing import RandomErasing as RandomErasing
from mt_nn.data.transforms.resizing import RandomResizedCrop as RandomResizedCrop
from mt_nn.data.transforms.resizing import Resize as Resize
from mt_nn.data.transforms.transform import ImageTransform as ImageTransform
from mt_nn.data.transforms.warping import RandomAffine as RandomAffine
from mt_nn.data.transforms.warping import RandomRotation as RandomRotation
