"""Convert programs written for torch by their imports, and compare both versions."""
