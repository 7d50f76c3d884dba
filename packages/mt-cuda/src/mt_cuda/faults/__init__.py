"""What goes wrong on a GPU: why it cannot be used, and what a failed kernel leaves."""
