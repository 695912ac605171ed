# tries: set variables that Python and torch read when they start
# loses: nothing
import os

for name in ("PYTHONPATH", "PYTHONSTARTUP", "LD_PRELOAD", "PYTHONINSPECT", "OMP_NUM_THREADS"):
    os.environ[name] = "/tmp/hostile_mark"
