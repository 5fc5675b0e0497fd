"""Compares the stages that XLA dumps around Shardy with those of sdy-opt, to the byte.

    python -m benchmarks.calibration.dump_stages --python=/path/to/python [--flags=…] PROGRAMS…
    python -m benchmarks.calibration.dump_stages --python=/path/to/python --folder=dumps corpus/

The Python has jax: XLA compiles each program for the CPU and dumps `00.input_module.mlir` and what follows.
Then sdy-opt imports, propagates and exports 00, which gives all later stages. The table has one line for
each program, and `=` for a stage that is equal, `X` for one that is not, and `-` for one that sdy-opt does
not reach. A program that XLA rejects before Shardy is counted only. A folder stands for the programs in it.
`--flags=--xla_enable_hlo_sharding_v3=false` dumps shardings by devices. Dumps are kept in `--folder`, and
used again if they exist, so that a run that was interrupted continues; `--seconds` interrupts it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sdyopt import Error, parse
from sdyopt.tools.driver.xla_dump import DumpedProgram, programs_in

_SCRIPT = Path(__file__).with_name("compile_with_xla.py")
# The stages are complete before code is generated, which need not be good.
_FAST = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
_EQUAL, _DIFFERENT, _MISSING = "=", "X", "-"


def main() -> None:
    """Prints the table, and the number of equal stages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("programs", nargs="+", type=Path)
    parser.add_argument("--python", required=True, help="a Python with jax")
    parser.add_argument("--flags", default="", help="further flags of XLA")
    parser.add_argument("--folder", type=Path, help="where dumps are kept")
    parser.add_argument("--seconds", type=float, help="start no dump after this time")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp())
    stages: Counter[tuple[str, str]] = Counter()
    rejected, equal, compared = 0, 0, 0
    paths = [
        file
        for path in arguments.programs
        for file in (sorted(path.rglob("*.mlir")) if path.is_dir() else [path])
    ]
    end = None if arguments.seconds is None else time.monotonic() + arguments.seconds
    for path in paths:
        dump = folder / path.stem
        if not dump.exists() and end is not None and time.monotonic() > end:
            sys.exit(f"interrupted before {path.stem}; the same command continues")
        _dump(path, dump, arguments.python, arguments.flags)
        programs = programs_in(str(dump))
        rejected += not programs
        for program in programs:
            marks = dict(compare(program))
            stages.update(marks.items())
            compared += 1
            equal += set(marks.values()) == {_EQUAL}
            sys.stdout.write(
                f"{path.stem:32} {' '.join(f'{stage[:2]}{mark}' for stage, mark in marks.items())}\n"
            )
            sys.stdout.flush()
    for stage in sorted({stage for stage, _ in stages}):
        total = sum(stages[stage, mark] for mark in (_EQUAL, _DIFFERENT, _MISSING))
        sys.stdout.write(f"{stage}: {stages[stage, _EQUAL]} of {total} equal\n")
    sys.stdout.write(f"{equal} of {compared} programs equal in all stages\n")
    sys.stdout.write(f"{rejected} of {len(paths)} programs without a dump\n")


def compare(program: DumpedProgram) -> Iterator[tuple[str, str]]:
    """For each stage after the input, whether that of sdy-opt is equal."""
    with tempfile.TemporaryDirectory() as folder:
        _run(next(iter(program.stages.values())), Path(folder))
        for name, path in list(program.stages.items())[1:]:
            own = Path(folder) / path.name
            if not own.exists():
                yield name, _MISSING
            else:
                # XLA writes no empty line after the module.
                yield (
                    name,
                    _EQUAL if own.read_text().rstrip("\n") == path.read_text().rstrip("\n") else _DIFFERENT,
                )


def _run(path: Path, folder: Path) -> None:
    """Writes the stages after a dumped input."""
    # With V3, shardings are those of HLO; rules and groups are attributes of their own.
    has_v3 = re.search(r"\bxla\.sdy\.(?:sharding|meshes) =", path.read_text()) is None
    option = f"enable-hlo-sharding-v3={str(has_v3).lower()}"
    passes = [
        f"-xla-sdy-round-trip-import-pipeline=lift-and-dedup-meshes=true {option}",
        f"-sdy-propagation-pipeline=dump-directory={folder}",
        f"-xla-sdy-stablehlo-export-pipeline={option}",
    ]
    output = ["-o", str(folder / "04.output_module.mlir")]
    command = [sys.executable, "-m", "sdyopt", str(path), *passes, *output]
    subprocess.run(command, capture_output=True, check=False)


def _dump(path: Path, folder: Path, python: str, flags: str) -> None:
    """Dumps a program to a folder, which exists only if the dump is complete."""
    if folder.exists():
        return
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    flags = f"--xla_dump_to={partial} --xla_dump_hlo_pass_re=shardy.* {_FAST} {flags}"
    environment = {**os.environ, "XLA_FLAGS": flags}
    command = [python, str(_SCRIPT), str(path), str(_device_count(path))]
    subprocess.run(command, env=environment, capture_output=True, check=False)
    partial.rename(folder)


def _device_count(path: Path) -> int:
    """The number of devices of the largest mesh of a program."""
    try:
        return max(parse(path).report().devices, 1)
    except Error:  # XLA rejects it, too, or compiles it for one device
        return 1


if __name__ == "__main__":
    main()
