"""Searches for inputs that break the contract of SECURITY.md, and writes a lit case for each problem.

    python -m tests.fuzz --seconds 600 --findings build/fuzz
    python -m tests.fuzz --seconds 36000 --findings build/fuzz --resume
    python -m tests.fuzz --sources modules --batches 1000 --reference-python PYTHON
    python -m tests.fuzz --sources hlo --programs FOLDER

Inputs are mutants of the lit cases and examples, random modules with random pipelines, random reshards,
which are simulated, and mutants of HLO, which are compared with a report. Every run must end with exit
status 0, 1 or 2 and, if it fails, with a located diagnostic, within 10 seconds and 1 GiB. With a Python that
has jax, the results of random modules must be those of the C++ passes, and what partitioned modules compute
must be what the modules compute. Two inputs have the same problem if the exception type and the line that
raises it, or the operations that differ first, are equal. The exit status is 1 if there are findings.
"""

import argparse
import sys
from pathlib import Path

from sdyopt.base.releases import NEWEST, following
from tests.fuzz.batch import preload
from tests.fuzz.session import Session
from tests.fuzz.sources import SOURCES, TURNS, TURNS_WITH_REFERENCE, WITH_REFERENCE
from tests.harness.reference import release_in

_NAMES = list({**SOURCES, **WITH_REFERENCE})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--seconds", type=float, default=60, help="the time to search, without the last batch"
    )
    parser.add_argument("--batches", type=int, help="stop after this many batches")
    parser.add_argument("--seed", type=int, default=0, help="the same seed searches the same inputs")
    parser.add_argument("--sources", help=f"the sources of the batches, in turn: {', '.join(_NAMES)}")
    parser.add_argument("--reference-python", default="", metavar="PYTHON", help="a Python that has jax")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), metavar="FOLDER")
    parser.add_argument(
        "--programs",
        type=Path,
        nargs="+",
        default=[],
        metavar="PATH",
        help="files and folders of programs, bytecode and exports to mutate, not the lit cases and examples",
    )
    parser.add_argument("--resume", action="store_true", help="continue the search of the folder")
    options = parser.parse_args()
    turns = TURNS_WITH_REFERENCE if options.reference_python else TURNS
    names = tuple(options.sources.split(",")) if options.sources else turns
    for name in names:
        if name not in _NAMES:
            parser.error(f"'{name}' is not a source; the sources are {', '.join(_NAMES)}")
        if name not in SOURCES and not options.reference_python:
            parser.error(f"the source '{name}' needs --reference-python")
    preload()
    release = release_in(options.reference_python) if options.reference_python else NEWEST.name
    with following(release):
        return _search(options, names)


def _search(options: argparse.Namespace, names: tuple[str, ...]) -> int:
    session = Session(
        options.seed,
        options.findings,
        names,
        report=_report,
        reference_python=options.reference_python,
        programs=options.programs,
    )
    if options.resume:
        session.resume()
    session.run(options.seconds, options.batches)
    session.close()
    _summarize(session)
    return 1 if session.findings else 0


def _report(text: str) -> None:
    print(text, flush=True)


def _summarize(session: Session) -> None:
    print(f"\n{session.counts.total()} inputs in {session.number} batches")
    for name, count in sorted(session.counts.items()):
        print(f"{count:8} {name}")
    print(f"\n{len(session.findings)} problems")
    for finding in sorted(session.findings.values(), key=lambda each: -each.count):
        print(f"{finding.count:8} {finding.problem}")


if __name__ == "__main__":
    sys.exit(main())
