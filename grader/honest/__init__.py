"""Right solutions that are written otherwise; each file has HONEST."""
