"""`mt release`: prepare the release of a package, and check, build and prove it."""
