"""The lesson of this stage: what a convolutional network needs to learn, in the order that the README states."""
