"""How computations on tensors are recorded, and what happens to tensors that change."""
