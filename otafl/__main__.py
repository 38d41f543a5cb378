"""``python -m otafl``: the command line."""

import sys

from otafl.cli import main

if __name__ == "__main__":
    sys.exit(main())
