"""Memory of a GPU that is used again, and that other libraries reach."""
