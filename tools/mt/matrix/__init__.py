"""`mt matrix`: which tests a change can break, as the jobs of continuous integration."""
