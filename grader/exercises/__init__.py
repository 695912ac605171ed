"""The exercises: each file defines `EXERCISE`, and no other file names it."""
