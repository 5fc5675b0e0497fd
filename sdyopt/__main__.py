"""`python -m sdyopt` is `sdy-opt`."""

import sys

from sdyopt.cli import main

sys.exit(main())
