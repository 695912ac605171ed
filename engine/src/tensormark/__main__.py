"""`python -m tensormark`: the same as `tensormark`; see cli.py."""

import sys

from tensormark.cli import main

if __name__ == "__main__":
    sys.exit(main())
