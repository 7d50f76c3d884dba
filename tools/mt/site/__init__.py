"""`mt site`: all comparisons, concepts and sources as pages that need nothing but a browser."""
