"""Reductions in several steps: over scattered elements, in parts, and fused with a formula."""
