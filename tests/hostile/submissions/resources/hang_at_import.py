# tries: take for ever to be imported
# loses: everything
import time

time.sleep(10**6)
