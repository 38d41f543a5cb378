"""``python -m otafl``: the command line."""

import os
import sys

# Python puts the current directory first, where a user's links.py would pass for ours.
HERE = os.getcwd()
if sys.path[:1] in ([""], [HERE]) and os.path.dirname(os.path.dirname(__file__)) != HERE:
    del sys.path[0]

from otafl.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
