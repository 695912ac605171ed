"""A harness that adds nothing to the worker."""
