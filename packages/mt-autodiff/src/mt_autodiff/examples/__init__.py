"""The exercises of the course for this stage, ready to run: networks of Scalars that learn."""
