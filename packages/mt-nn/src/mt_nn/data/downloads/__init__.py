"""Files from their publishers, checked."""
