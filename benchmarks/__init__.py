"""What grading costs, compared with alternatives: `python -m benchmarks` (`make bench`)."""
