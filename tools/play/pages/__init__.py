"""The pages of the playground, one file each, which the frame finds by their names."""
