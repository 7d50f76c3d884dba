"""Transforms of images, with torchvision's names: calls that are put in a row by `Compose`.

Images are tensors of shape (..., channels, height, width). One call treats all of them alike, also
where it draws random numbers. `transform.each(images)` draws for each image of a batch by itself,
at once for all, which takes a fraction of the time; a loader of a `TransformedDataset` around
tensors does so. Random numbers come from the current default generator, which in a loader belongs
to the batch, and which `use_generator` sets elsewhere.
"""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
