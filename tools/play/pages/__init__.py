"""The pages of the playground, one file each; `play.contents` finds them by their names."""
