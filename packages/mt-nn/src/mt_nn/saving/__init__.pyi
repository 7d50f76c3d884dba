"""What users find in `mt_nn.saving`, and where it is defined."""

from mt_nn.saving.objects import load as load
from mt_nn.saving.objects import read_metadata as read_metadata
from mt_nn.saving.objects import save as save
