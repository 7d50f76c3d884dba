"""What torch's programs ask about the GPU before they choose a device, under torch's names."""

from mt_tensor.library.cuda import (
    current_device as current_device,
    device_count as device_count,
    empty_cache as empty_cache,
    is_available as is_available,
    manual_seed as manual_seed,
    manual_seed_all as manual_seed_all,
    synchronize as synchronize,
)
