"""What `mt_tensor.linalg` offers: factors, solutions, norms and products of matrices."""
