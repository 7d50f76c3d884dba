"""`mt diff A B`: what one stage adds to another: names, dependencies, code, experiments."""
