"""The grader of minBERT; start with assignment.py."""
