# tries: take for ever to be imported
# scores: none
import time

time.sleep(10**6)
