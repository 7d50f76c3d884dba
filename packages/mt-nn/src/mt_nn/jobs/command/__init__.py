"""The command `mt-train`: what it does with a job, whichever it is."""
