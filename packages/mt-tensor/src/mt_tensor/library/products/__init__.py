"""Products of vectors, sums of products, and distances."""
