"""Pictures of graphs and of storage."""
