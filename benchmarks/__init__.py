"""What this project costs, compared with alternatives: `python -m benchmarks` (`make bench`).

Each module measures one thing: its `rows` yields lines of a common table. What is compared is
measured alternately in one run, so that other load on the machine affects both; only the ratios
mean anything on another machine. The comparison with transformers, beside_transformers.py, is
run separately, as it needs more packages.
"""
