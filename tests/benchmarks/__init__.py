"""What grading costs, compared with alternatives: `python -m tests.benchmarks` (`make bench`)."""
