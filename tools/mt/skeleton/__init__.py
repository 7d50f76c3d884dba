"""A stage as exercises: its code without what a student is to write, its tests, and the tasks."""
