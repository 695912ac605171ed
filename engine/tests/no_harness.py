"""A harness that adds nothing to what the worker does by itself."""
