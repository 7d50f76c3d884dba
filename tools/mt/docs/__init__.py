"""The site: a Sphinx extension, and what it serves to browsers."""
