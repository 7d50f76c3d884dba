"""The playground: what each stage does, to try in a browser."""
