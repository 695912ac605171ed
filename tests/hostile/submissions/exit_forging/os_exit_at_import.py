# tries: end the process with success while it is imported
# loses: everything
import os

os._exit(0)
