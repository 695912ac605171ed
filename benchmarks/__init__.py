"""What this project costs, beside what else one could do: `python -m benchmarks` (`make bench`).

Each module has one idea and measures it: `rows` yields lines of the one table. What is compared is
measured in turns in one run, so that what else the machine does falls on both; only the ratios mean
something on another machine. Two comparisons with transformers stand alone, as they need its
packages: real_bert.py and trainer.py.
"""
