"""Known mistakes, a file per exercise or kind; each has VARIANTS, and may have HONEST."""
