"""The exercises of the course that need nothing but this stage, ready to run."""
