"""Programs that were written for torch: with other import lines, and beside torch."""
