"""Checks metamorphic properties on random modules, and prints a table and the first violations.

    python -m tests.metamorphic --seeds 0:2000 [PROPERTY …]

Every module is checked for every property; a property about passes runs one random pipeline. The exit status
is 1 if a property is violated.
"""

import argparse
import sys
from collections import Counter

from tests.metamorphic.properties import PROPERTIES, check


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("properties", nargs="*", metavar="PROPERTY", help=", ".join(PROPERTIES))
    parser.add_argument("--seeds", default="0:200", metavar="FROM:TO", help="the seeds of the modules")
    parser.add_argument("--most", type=int, default=5, help="the number of violations to print")
    options = parser.parse_args()
    for name in options.properties:
        if name not in PROPERTIES:
            parser.error(f"'{name}' is not a property; the properties are {', '.join(PROPERTIES)}")
    start, end = map(int, options.seeds.split(":"))
    names = options.properties or list(PROPERTIES)
    violations: Counter[str] = Counter()
    for seed in range(start, end):
        for name in names:
            violation = check(name, seed)
            if violation:
                violations[name] += 1
                if violations.total() <= options.most:
                    print(f"{name}, seed {seed}: {violation}\n", flush=True)
    for name in names:
        print(f"{name:20} {end - start:8} modules {violations[name]:6} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
