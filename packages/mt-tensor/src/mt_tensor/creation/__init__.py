"""Making tensors of what there is, or from a rule."""
