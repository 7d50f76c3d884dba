"""`mt mutate`: mutation testing of the packages."""
