"""`mt doctor`: check this machine and environment for problems, and say how to fix them."""
