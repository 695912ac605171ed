"""Right code that looks different; each file has HONEST. Only staff have it."""
