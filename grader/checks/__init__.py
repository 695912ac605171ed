"""The checks: plain pytest tests, run by grader/plugin.py over the exercises of the case table."""
