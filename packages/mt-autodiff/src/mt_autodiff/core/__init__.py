"""The core of stage 1; the README lists its files in reading order."""
