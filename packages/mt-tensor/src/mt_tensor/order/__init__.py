"""Running folds, sorting, and what else asks for the order of elements."""
