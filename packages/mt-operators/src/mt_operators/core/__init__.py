"""The core of stage 0; the README lists its files in reading order."""
