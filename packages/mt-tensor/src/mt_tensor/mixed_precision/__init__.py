"""Mixed precision: the dtype in which operations inside a block are computed."""
