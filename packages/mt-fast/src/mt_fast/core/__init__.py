"""The lesson: from parallel loops written by hand to a backend of generated ones."""
