"""Checks metamorphic properties on random modules, and prints a table and the first violations.

    python -m tests.metamorphic --seeds 0:2000 [PROPERTY …]

Every module is checked for every property; a property about passes runs one random pipeline. With
`--reference-python PYTHON`, whose Python has jaxlib, those that do not hold on all modules must hold on the
modules on which they hold in C++. The exit status is 1 if a property is violated.
"""

import argparse
import contextlib
import sys
from collections import Counter

from tests.metamorphic.passes import Run
from tests.metamorphic.properties import COMPARED, PROPERTIES, ReferenceCrashError, check, check_both
from tests.random_modules.compare import Reference, reference


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("properties", nargs="*", metavar="PROPERTY", help=", ".join(PROPERTIES))
    parser.add_argument("--seeds", default="0:200", metavar="FROM:TO", help="the seeds of the modules")
    parser.add_argument("--reference-python", metavar="PYTHON", help="a Python that has jaxlib")
    parser.add_argument("--most", type=int, default=5, help="the number of violations to print")
    options = parser.parse_args()
    for name in options.properties:
        if name not in PROPERTIES:
            parser.error(f"'{name}' is not a property; the properties are {', '.join(PROPERTIES)}")
    start, end = map(int, options.seeds.split(":"))
    names = options.properties or list(PROPERTIES)
    violations: Counter[str] = Counter()
    uncompared: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:
        run = None
        if options.reference_python:
            run = _run_in(stack.enter_context(reference(options.reference_python)))
        for seed in range(start, end):
            for name in names:
                try:
                    violation = check_both(name, seed, run) if run and name in COMPARED else check(name, seed)
                except ReferenceCrashError:
                    uncompared[name] += 1
                    continue
                if violation:
                    violations[name] += 1
                    if violations.total() <= options.most:
                        print(f"{name}, seed {seed}: {violation}\n", flush=True)
    for name in names:
        crashes = f", {uncompared[name]} crashes of C++" if uncompared[name] else ""
        print(f"{name:20} {end - start:8} modules {violations[name]:6} violations{crashes}")
    return 1 if violations else 0


def _run_in(running: Reference) -> Run:
    def run(text: str, pipeline: str) -> str:
        running.submit(text, [pipeline])
        [result] = running.results()
        if result is None:
            raise ReferenceCrashError
        return result.output

    return run


if __name__ == "__main__":
    sys.exit(main())
