"""`mt mutate`: faults planted in a package, to see whether its tests notice."""
