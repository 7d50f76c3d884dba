"""The core of stage 3: from handwritten parallel loops to a backend of generated ones."""
