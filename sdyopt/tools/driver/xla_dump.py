"""Folders that XLA dumps to, with `--xla_dump_to=FOLDER --xla_dump_hlo_pass_re=.*`.

    FOLDER/shardy/module_0001.jit_f/00.input_module.mlir
                                    01.before_propagation.mlir
                                    …

`FOLDER:jit_f:02` names a program by its name or its number, and a stage by its number or its name; by default
the stage is the input of Shardy.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.text import from_native, native_path, printable_line
from sdyopt.base.diagnostics.usage import nearest, nearest_or_all

_STAGE = re.compile(r"(\d+)\.([\w-]+)\.mlir\Z")
_SUBFOLDER = "shardy"
# So many names are listed if none is similar to one that is not found.
_SHOWN_NAMES = 10


class DumpError(Exception):
    """A folder has no such program or stage, or it is not said which. `help` says what to write instead."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        # A name of a folder may contain newlines, which must not start another line.
        self.message = printable_line(message)
        self.help = printable_line(help)


class DumpedProgram(NamedTuple):
    """A program in a folder of dumps: the name of its folder, and the file of each stage, by its name."""

    name: str
    stages: dict[str, Path]

    @classmethod
    def of(cls, folder: str, name: str) -> DumpedProgram:
        programs = _all_programs(folder)
        if not name and len(programs) == 1:
            return programs[0]
        if not name:
            raise DumpError(
                f"folder '{folder}' has {len(programs)} programs",
                f"choose one: {folder}:{_names(programs)[0]}",
            )
        matching = [
            program for program in programs if name in (program.name, program.short_name, program.number)
        ]
        if not matching:
            known = {program.short_name for program in programs}
            help = nearest(name, known) or nearest_or_all(name, _names(programs), _SHOWN_NAMES)
            raise DumpError(f"folder '{folder}' has no program '{name}'", help)
        if len(matching) > 1:
            names = " or ".join(f"{folder}:{stage.number}" for stage in matching[:3])
            raise DumpError(f"folder '{folder}' has {len(matching)} programs '{name}'", f"write {names}")
        return matching[0]

    @property
    def short_name(self) -> str:
        """The name of the module: `jit_f` for `module_0001.jit_f`."""
        return self.name.partition(".")[2] or self.name

    @property
    def number(self) -> str:
        """The number of the module: `0001` for `module_0001.jit_f`."""
        return self.name.partition(".")[0].rpartition("_")[2]

    def stage(self, stage: str) -> Path:
        if not stage:
            return next(iter(self.stages.values()))
        number = stage.zfill(2)
        for name, path in self.stages.items():
            if (
                name in (stage, f"{stage}.mlir")
                or name.partition(".")[0] == number
                or name.partition(".")[2] == stage
            ):
                return path
        help = nearest_or_all(stage, [name.partition(".")[2] for name in self.stages])
        raise DumpError(f"program '{self.name}' has no stage '{stage}'", help)


def is_dump(path: str) -> bool:
    """Whether a path names a folder, perhaps with a program in it."""
    return _folder_and_choice(path) is not None


def programs_in(path: str) -> list[DumpedProgram]:
    """The programs in a folder of dumps, in `FOLDER/shardy` or in the folder itself, by name."""
    folder = native_path(path)
    below = folder / _SUBFOLDER
    folder = below if below.is_dir() else folder
    own = _stages(folder)
    if own:
        return [DumpedProgram(from_native(folder.name), own)]
    dumped_programs = [DumpedProgram(from_native(entry.name), _stages(entry)) for entry in _folders(folder)]
    return [program for program in dumped_programs if program.stages]


def _folders(folder: Path) -> list[Path]:
    with os.scandir(str(folder)) as entries:
        return [folder / name for name in sorted(entry.name for entry in entries if entry.is_dir())]


def _stages(folder: Path) -> dict[str, Path]:
    with os.scandir(str(folder)) as entries:
        names = sorted(entry.name for entry in entries if _STAGE.match(entry.name) and entry.is_file())
    if not any(name.startswith("00.") for name in names):
        return {}
    return {name.removesuffix(".mlir"): folder / name for name in names}


def dumped_file(path: str) -> str:
    """The file that `FOLDER:PROGRAM:STAGE` names. Raises DumpError, and OSError."""
    parts = _folder_and_choice(path)
    assert parts is not None
    folder, choice = parts
    name, _, stage = choice.partition(":")
    program = DumpedProgram.of(folder, name)
    return from_native(str(program.stage(stage)))


def table_text(folder: str) -> str:
    """A table of the programs in a folder and their stages. Raises DumpError, and OSError."""
    programs = _all_programs(folder)
    width = max(len(program.name) for program in programs)
    lines = [f"{'program'.ljust(width)}  {'bytes':>10}  stages"]
    for program in programs:
        files = list(program.stages.values())
        size = f"{files[0].stat().st_size:,}"
        lines.append(f"{printable_line(program.name).ljust(width)}  {size:>10}  {', '.join(program.stages)}")
    example = printable_line(f"{folder}:{_names(programs)[0]}")
    lines += ["", f"sdy-opt {example} reads the input of a program, {example}:03 a later stage"]
    return "\n".join(lines) + "\n"


def _folder_and_choice(path: str) -> tuple[str, str] | None:
    """The folder in a path and what follows it; None if there is no folder."""
    if path and _is_folder(path):
        return path, ""
    # On Windows, a drive has a colon, too.
    for index, character in enumerate(path):
        if character == ":" and index > 1 and _is_folder(path[:index]):
            return path[:index], path[index + 1 :]
    return None


def _is_folder(path: str) -> bool:
    try:
        return native_path(path).is_dir()
    except OSError:  # the name is too long
        return False


def _all_programs(folder: str) -> Sequence[DumpedProgram]:
    programs = programs_in(folder)
    if not programs:
        raise DumpError(
            f"folder '{folder}' has no dump of Shardy",
            "XLA writes one with XLA_FLAGS='--xla_dump_to=FOLDER --xla_dump_hlo_pass_re=.*'",
        )
    return programs


def _names(programs: Sequence[DumpedProgram]) -> list[str]:
    """The shortest name of each program that no other has."""
    counts = Counter(program.short_name for program in programs)
    return [program.short_name if counts[program.short_name] == 1 else program.number for program in programs]
