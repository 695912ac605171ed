"""The grader: trusted code, but for worker.py and calls.py, which run beside a student's."""
