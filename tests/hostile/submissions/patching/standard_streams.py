# tries: close and replace the standard streams
# loses: nothing
import os
import sys

sys.stdout = sys.stderr = sys.__stdout__ = None
os.close(0)
os.close(1)
os.close(2)
