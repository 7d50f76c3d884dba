"""`mt site`: all comparisons, concepts and sources as static pages."""
