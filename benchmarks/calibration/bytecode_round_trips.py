"""Round trips of programs through bytecode: text, bytecode of sdy-opt and of jaxlib, and text again.

    python -m benchmarks.calibration.bytecode_round_trips --python=/path/to/python [PROGRAMS…]

The Python has jax. Its MLIR reads what sdy-opt writes, and the reverse, in the oldest and the newest version
of the format. Then each must print what it prints for the text, with locations. Without programs, the
examples are converted; a folder stands for the programs in it. A program that jaxlib does not read is
counted only. The exit status is 1 if a program differs.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.asm.resources import resource_section
from sdyopt.mlir.bytecode.writer import BytecodeOptions, write_bytecode
from sdyopt.mlir.registry import dialect_table
from sdyopt.tools.driver.job import interpreter_settings
from sdyopt.tools.driver.split import parse_source

EXAMPLES = Path(__file__).parents[2] / "examples"
VERSIONS = (0, 6)
_SCRIPT = Path(__file__).with_name("convert_with_jaxlib.py")
# jaxlib gives resources new names, also when it reads text.
_NUMBER_OF_RESOURCE = re.compile(r"(?<=dense_resource<)(\w+?)_\d+(?=>)|^( +\w+?)_\d+(?=: \"0x)", re.MULTILINE)
_OPTIONS = ParseOptions(allow_unregistered_dialects=True)


def main() -> int:
    """Prints what differs and the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("programs", nargs="*", type=Path, default=[EXAMPLES])
    parser.add_argument("--python", required=True, help="a Python with jax")
    arguments = parser.parse_args()
    paths = [each for path in arguments.programs for each in _files(path)]
    equal, unread = 0, 0
    with TemporaryDirectory() as name, interpreter_settings():
        folder = Path(name)
        # Some names are those of several examples.
        names = {f"{index}": path for index, path in enumerate(paths)}
        printed = {index: _write(path, index, folder) for index, path in names.items()}
        subprocess.run([arguments.python, "-P", _SCRIPT, folder], check=True)
        for index, path in names.items():
            if printed[index] is None or not (folder / f"{index}.mlir.txt").exists():
                unread += 1
                sys.stdout.write(f"{path.name}: not read by both\n")
                continue
            differences = list(_differences(index, printed[index] or "", folder))
            equal += not differences
            for each in differences:
                sys.stdout.write(f"{path.name}: {each}\n")
    read = len(paths) - unread
    sys.stdout.write(f"{equal} of {read} programs equal both ways; {unread} others are not read by both\n")
    return int(equal != read)


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.mlir")) if path.is_dir() else [path]


def _write(path: Path, index: str, folder: Path) -> str | None:
    """Writes a program as text and as bytecode, and returns what sdy-opt prints; None if it is invalid."""
    text = path.read_text(encoding="utf-8")
    try:
        op, resources = parse_source(Source("-", text), dialect_table(), _OPTIONS)
    except DiagnosticError:
        return None
    (folder / f"{index}.mlir").write_text(text, encoding="utf-8")
    for version in VERSIONS:
        data = write_bytecode(op, resources, BytecodeOptions(version))
        (folder / f"{index}.{version}.mlirbc").write_bytes(data)
    return print_op(op, PrintOptions(debuginfo=True)) + resource_section(op, resources)


def _differences(index: str, printed: str, folder: Path) -> Iterator[str]:
    expected = _comparable((folder / f"{index}.mlir.txt").read_text(encoding="utf-8"))
    for version in VERSIONS:
        converted = folder / f"{index}.{version}.mlirbc.txt"
        if not converted.exists():
            yield f"jaxlib does not read version {version}"
        elif _comparable(converted.read_text(encoding="utf-8")) != expected:
            yield f"jaxlib reads version {version} differently"
        data = (folder / f"{index}.{version}.jaxlib").read_bytes()
        try:
            op, resources = parse_source(Source("-", "", data=data), dialect_table(), _OPTIONS)
        except DiagnosticError as error:
            yield f"sdy-opt does not read version {version}: {error.diagnostic.message}"
            continue
        again = print_op(op, PrintOptions(debuginfo=True)) + resource_section(op, resources)
        if _comparable(again) != _comparable(printed):
            yield f"sdy-opt reads version {version} differently"


def _comparable(text: str) -> str:
    return _NUMBER_OF_RESOURCE.sub(r"\1\2", text)


if __name__ == "__main__":
    sys.exit(main())
