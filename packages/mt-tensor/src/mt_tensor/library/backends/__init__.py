"""What makes the backends of this package fast, beyond what the lesson has of them."""
