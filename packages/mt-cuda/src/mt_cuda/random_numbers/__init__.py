"""Random numbers that are drawn on the device, and dropout."""
