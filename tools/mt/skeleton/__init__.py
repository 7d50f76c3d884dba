"""A stage as exercises: its code with the solutions removed, its tests, and instructions."""
