"""Files from their publishers: checked, taken up again where they were interrupted."""
