# tries: keep the process after an import that fails
# loses: everything
import os
import time

os._exit = lambda *_: time.sleep(1000)
raise ValueError("there is nothing to grade here")
