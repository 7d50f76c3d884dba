"""Where an idea is implemented in each stage, and what each stage adds to the ones before."""
