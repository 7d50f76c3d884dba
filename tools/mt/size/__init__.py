"""The size of each stage: its core, the rest, and its conformance kit."""
