# tries: end the process with success while a file of an extension is imported
# file: optimizer.py
# loses: optimizer.py
import os

os._exit(0)
