"""Known mistakes; each file has VARIANTS. Only staff have them."""
