"""The exercises."""
