"""Known mistakes, a file for each exercise; it has VARIANTS, and may have HONEST."""
