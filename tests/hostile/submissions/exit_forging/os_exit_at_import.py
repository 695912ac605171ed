# tries: end the process with success while it is imported
# scores: none
import os

os._exit(0)
