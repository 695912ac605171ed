# tries: leave with success while it is imported
# loses: everything
import sys

sys.exit(0)
