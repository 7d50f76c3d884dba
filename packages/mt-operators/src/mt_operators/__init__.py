"""Mathematics as a table of scalar operators with their derivatives, and trees of modules."""

__version__ = "0.1.0"
