"""The playground: interactive pages for each stage."""
