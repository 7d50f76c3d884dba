"""Integer operations and quotients that take several steps."""
