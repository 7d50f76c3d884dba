"""Training: the loop, what is measured and shown, and the program `mt-train`."""
