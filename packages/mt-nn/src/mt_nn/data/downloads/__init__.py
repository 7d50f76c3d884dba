"""Downloads of published data sets, with checksums."""
