"""Applies help, and checks that it does what it says: python -m benchmarks.advice [--count N] PROGRAM…

Lint and explanations of sampled values run on each program as it is printed. Each help is applied to the text
of the program: its line in Shardy's words is read, the shardings are written, and the new program gets a
report of its own. The wire bytes and the peak memory have to be those of the help, the axis of an explanation
has to shard the value, and a figure that becomes worse has to be announced. With --xla-python=PYTHON, which
has jaxlib, XLA compiles both programs, and its bytes have to change in the same direction. The exit status is
1 if less than 95% do what they say, one makes a program worse without saying so, or XLA agrees with less
than 90%. With --keep=FOLDER, a run continues an earlier one; --seconds=S ends it before a program.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, NamedTuple

from benchmarks.advice.judged import compiled_by_xla
from benchmarks.advice.table import Row, write_table
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.hlo_comparison.accelerators import on_accelerators
from sdyopt.analysis.hlo_comparison.comparison import wire_bytes
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.mlir.registry import all_dialects, find_dialect
from sdyopt.tools.start import sdy_opt

_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}
_FIGURE = re.compile(r"(?:sends|peak memory is) ([\d.]+) (B|[KMGTP]iB)")
_NAME = r"%[^\s,;]+(?: of @[^\s,;]+)?"
_PLACE = rf"(?:result \d+ of @[^\s,;]+|{_NAME})"
_ENTRY = re.compile(
    rf"(?:sdy\.sharding_constraint (?P<value>{_NAME}) <@\S+?, (?P<dims>\[.*?\])>"
    rf"|(?P<dims2>\[.*?\]) on (?P<places>{_PLACE}(?:, {_PLACE})*)"
    rf"|no sdy\.sharding_constraint on (?P<removed>{_NAME}))(?:; |$)"
)
_RESULT = re.compile(r"result (\d+) of @(.*)")
# Texts are rounded to three digits, and reports to bytes.
_TOLERANCE = Fraction(1, 100)
# What is sent has to change by this share to count as a change, and by the second if only one side changes.
_CHANGE, _SMALL = Fraction(2, 100), Fraction(10, 100)
# The words of help that another partitioner may apply otherwise.
_DEPENDS = "depends on the partitioner"
_COLUMNS = 120
_AT_A_TIME = 3


@dataclass
class Help:
    """A piece of help: what to write, in JAX's and Shardy's words, and the text of its effect.

    `value` and `axis` are those of an explanation. `earlier` are those that it was tried after.
    """

    source: str
    text: str
    sdy: str
    effect: str
    is_costly: bool
    function: str
    value: str = ""
    axis: str = ""
    earlier: tuple[Help, ...] = ()


class Piece(NamedTuple):
    """A piece of help that was applied. `problem` is empty if it does what it says.

    `sent` and `peak` are those of the report before and after it, and `xla` what XLA sends, if it compiles
    both programs.
    """

    program: str
    source: str
    text: str
    depends: bool
    problem: str
    is_silent: bool
    sent: tuple[int, int]
    peak: tuple[int, int]
    xla: tuple[int, int] | None

    @property
    def agrees(self) -> bool:
        """Whether what XLA sends changes in the direction of the report, if one of them changes enough."""
        assert self.xla is not None
        ours, theirs = _direction(*self.sent), _direction(*self.xla)
        # A small change of ours may be one in XLA that does not count, and the other way round.
        return ours == theirs or (
            0 in (ours, theirs) and max(_change(*self.sent), _change(*self.xla)) <= _SMALL
        )

    @property
    def row(self) -> Row:
        """The row of the table."""
        xla = ("", "", "") if self.xla is None else (*map(_bytes, self.xla), "yes" if self.agrees else "no")
        cells = [
            self.program,
            self.source,
            self.text if len(self.text) <= _COLUMNS else f"{self.text[:_COLUMNS]}…",
            "depends" if self.depends else "",
            *map(_bytes, self.sent),
            "no" if self.problem or self.is_silent else "yes",
            *xla,
        ]
        return Row(cells, [])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="pieces of help to check")
    parser.add_argument(
        "--per-program", type=int, default=100, help="pieces of help of each kind per program"
    )
    parser.add_argument("--values", type=int, default=60, help="values per program to explain")
    parser.add_argument("--xla-python", metavar="PYTHON", help="a Python with jaxlib")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep what was measured, and go on from it"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no program after them")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="write the table in this page")
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    start = monotonic()
    pieces: list[Piece] = []
    with TemporaryDirectory() as temporary:
        for path in arguments.programs:
            if len(pieces) >= arguments.count or monotonic() - start > arguments.seconds:
                break
            for piece in _kept_pieces(path, Path(temporary), arguments):
                pieces.append(piece)
                sys.stdout.write(f"{piece.row.text}\n")
                if problem := piece.problem or "worse without saying so" * piece.is_silent:
                    sys.stdout.write(f"    {problem}\n")
            sys.stdout.flush()
    pieces = pieces[: arguments.count]
    summary, is_good = _summary(pieces)
    sys.stdout.write(f"{summary}\n")
    if arguments.output is not None:
        header = (
            "program",
            "help of",
            "help",
            "partitioner",
            "sent",
            "after",
            "as it says",
            "XLA",
            "after",
            "agrees",
        )
        write_table(arguments.output, "help", summary, header, [each.row for each in pieces])
    return int(not is_good)


def _summary(pieces: Sequence[Piece]) -> tuple[str, bool]:
    right = sum(not each.problem for each in pieces)
    silent = sum(each.is_silent for each in pieces)
    programs = len({each.program for each in pieces})
    summary = (
        f"{right} of {len(pieces)} pieces of help on {programs} programs do what they say; {silent} make the "
        "program worse without saying so."
    )
    compared = [each for each in pieces if each.xla is not None and not each.depends]
    depending = [each for each in pieces if each.xla is not None and each.depends]
    agree = sum(each.agrees for each in compared)
    if compared or depending:
        share = 100 * agree // max(len(compared), 1)
        summary += f" XLA agrees with {agree} of {len(compared)} ({share}%)"
        if depending:
            also = sum(each.agrees for each in depending)
            summary += f", and with {also} of {len(depending)} that say that they depend on the partitioner"
        summary += "."
    is_good = right * 100 >= len(pieces) * 95 and not silent and agree * 100 >= len(compared) * 90
    return summary, is_good


def _kept_pieces(path: Path, temporary: Path, arguments: argparse.Namespace) -> list[Piece]:
    """The pieces of help on a program, as they were measured before, or now."""
    if arguments.keep is None:
        return list(_pieces(path, temporary, arguments))
    kept = arguments.keep / f"{path.stem}.pieces.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        found = [each._asdict() for each in _pieces(path, temporary, arguments)]
        kept.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return [Piece(**each) for each in json.loads(kept.read_text(encoding="utf-8"))]


def _pieces(path: Path, folder: Path, arguments: argparse.Namespace) -> Iterator[Piece]:
    printed = folder / f"{path.stem}.mlir"
    if _sdy_opt([str(path), "-o", str(printed)]).returncode or (before := _figures(printed, folder)) is None:
        return
    # The same help for several values is one piece.
    found: dict[tuple[str, str], Help] = {}
    for source in (_of_lint(printed), _of_explanations(printed, arguments.values)):
        most = len(found) + arguments.per_program
        for each in source:
            found.setdefault((each.sdy, each.effect), each)
            if len(found) >= most:
                break
    for number, each in enumerate(found.values()):
        edited = folder / f"{path.stem}_{number}.mlir"
        try:
            name = _apply(printed, each, edited)
            after = _figures(edited, folder)
        except (ValueError, KeyError) as error:
            after, problem = None, f"cannot be applied: {error!r}"
        else:
            problem = "no report" if after is None else "; ".join(_problems(each, after, edited, name))
        sent, peak = zip(before, after or before, strict=True)
        is_worse = any(new > old * (1 + _TOLERANCE) for old, new in (sent, peak))
        xla = None
        if arguments.xla_python and after is not None:
            compiled = [_xla(one, arguments.xla_python, arguments.keep) for one in (printed, edited)]
            if compiled[0] is not None and compiled[1] is not None:
                xla = compiled[0], compiled[1]
        is_silent = is_worse and not each.is_costly and not each.earlier
        depends = _DEPENDS in each.effect
        yield Piece(path.stem, each.source, each.text, depends, problem, is_silent, sent, peak, xla)


def _problems(help: Help, after: tuple[int, int], edited: Path, name: str) -> Iterator[str]:
    claimed = [Fraction(number) * _UNITS[unit] for number, unit in _FIGURE.findall(help.effect)]
    if len(claimed) != len(after):
        # The function does not run, so that there are no figures.
        claimed = list(map(Fraction, after))
    for old, new, what in zip(claimed, after, ("sends", "takes"), strict=True):
        if abs(old - new) > max(_TOLERANCE * old, 2):
            yield f"{what} {float(new):.0f} bytes, and the help says {float(old):.0f}"
    if help.axis:
        done = _sdy_opt([str(edited), f"--explain=@{help.function} {name}"])
        states = [line for line in done.stdout.splitlines() if line.startswith("%")]
        # A part of an axis comes with the axis, too. JAX and MLIR quote its name differently.
        axis = help.axis.partition(":")[0].strip('"')
        if not any(f"'{axis}'" in line or f'"{axis}"' in line for line in states):
            yield f"{help.axis} does not shard {name}: {states[:1]}"


# --- Help ---------------------------------------------------------------------------------------------


def _of_lint(printed: Path) -> Iterator[Help]:
    """The help of lint, without help in words that this script does not read."""
    done = _sdy_opt([str(printed), "--lint", "--lint-config=-"])
    earlier: list[Help] = []
    for text, sdy in re.findall(r"^help: (.*)\n  in sdy: (.*)$", done.stderr, re.MULTILINE):
        what, _, effect = text.partition(": tried, ")
        is_later = ", with the changes above" in text
        help = Help(
            "lint", what, sdy, effect, ", at a cost" in what, "main", earlier=tuple(earlier * is_later)
        )
        earlier.append(help)
        if _ENTRY.match(sdy):
            yield help


def _of_explanations(printed: Path, count: int) -> Iterator[Help]:
    """The help of explanations of sampled values, a few at a time."""
    with_names = [(function, name) for function, name, _ in _values(_parse(printed))]
    sample = Random(1).sample(with_names, min(count, len(with_names)))
    for start in range(0, len(sample), _AT_A_TIME):
        questions = [f"--explain=@{function} {name}" for function, name in sample[start : start + _AT_A_TIME]]
        yield from _help_in(_sdy_opt([str(printed), *questions]).stdout)


def _help_in(text: str) -> Iterator[Help]:
    """The help in explanations."""
    # Sentences continue on further lines, which start without a branch.
    lines: list[str] = []
    for line in text.splitlines():
        bare = line.lstrip(" │")
        if not lines or bare.startswith(("├─", "└─")) or not line.startswith((" ", "│")):
            lines.append(f"{'' if bare == line else ' '}{bare.lstrip('├└─ ')}")
        else:
            lines[-1] += f" {bare.strip()}"
    function = value = ""
    for at, line in enumerate(lines[:-2]):
        if root := re.match(r"(%[\w.#$-]+)(?: of @([\w.$-]+))?(?: \(copy .*?\))?:", line):
            value, function = root[1], root[2] or "main"
        is_help = line.startswith((" help: ", " possible, at a cost: "))
        if not is_help or not lines[at + 2].startswith(" in sdy: "):
            continue
        tried, sdy = lines[at + 1].removeprefix(" tried: "), lines[at + 2].removeprefix(" in sdy: ")
        axis = tried.partition(" shards it")[0]
        is_costly = line.startswith(" possible")
        yield Help("explain", line.partition(": ")[2], sdy, tried, is_costly, function, value, axis)


def _values(module: Op) -> Iterator[tuple[str, str, OpResult | BlockArgument]]:
    """The tensors of functions, with their functions and names."""
    for value, name in SsaNames(module).names.items():
        assert isinstance(value, OpResult | BlockArgument)
        op = owning_op(value)
        function = op if isinstance(op, FuncOp) else op.parent_of_type(FuncOp)
        if isinstance(function, FuncOp) and isinstance(value.type, RankedTensor) and value.type.rank:
            yield function.sym_name, name, value


# --- Applying ---------------------------------------------------------------------------------------


def _apply(printed: Path, help: Help, edited: Path) -> str:
    """Writes the program with the change; returns the name that the value of the explanation has in it."""
    module = _parse(printed)
    named = {(function, name): value for function, name, value in _values(module)}
    rewriter = Rewriter()
    for each in (*help.earlier, help):
        position = 0
        while position < len(each.sdy):
            match = _ENTRY.match(each.sdy, position)
            if match is None:
                raise ValueError(f"unknown words: {each.sdy[position:]}")
            for place in (match["places"] or match["value"] or match["removed"]).split(", "):
                _write(place, match, module, named, each.function, rewriter)
            position = match.end()
    edited.write_text(print_op(module), encoding="utf-8")
    value = named.get((help.function, help.value))
    return "" if value is None else SsaNames(module).names[value]


def _write(
    place: str,
    match: re.Match[str],
    module: Op,
    named: dict[tuple[str, str], OpResult | BlockArgument],
    function: str,
    rewriter: Rewriter,
) -> None:
    functions = {op.sym_name: op for op in module.walk() if isinstance(op, FuncOp)}
    if (result := _RESULT.fullmatch(place)) is not None:
        number, owner = int(result[1]), functions[result[2]]
        sharding = _sharding(match["dims2"], module, owner.function_type.results[number])
        rewriter.set_result_attribute(owner, number, SHARDING, sharding)
        return
    name, _, where = place.partition(" of @")
    if where:
        function = where
    elif (function, name) not in named:
        function = next(owner for owner, other in named if other == name)
    value = named[function, name]
    users = [each for each in value.users if isinstance(each, ShardingConstraintOp)]
    if match["removed"] is not None:
        for op in users:
            rewriter.replace(op, [op.input])
        return
    sharding = _sharding(match["dims"] or match["dims2"], module, value.type)
    if match["dims"] is None:
        assert isinstance(value, BlockArgument)
        rewriter.set_argument_attribute(functions[function], value.index, SHARDING, sharding)
    elif users:
        for op in users:
            rewriter.set_attribute(op, "sharding", sharding)
    else:
        at: Any = {"after": value.op} if isinstance(value, OpResult) else {"at_start_of": value.owner}
        new = rewriter.create(ShardingConstraintOp, [value], [value.type], {"sharding": sharding}, **at)
        rewriter.replace_uses_except(value, new.results[0], new)


def _sharding(dims: str, module: Op, type: object) -> TensorSharding:
    """The sharding of a text, on the first mesh that has its axes."""
    axes = re.findall(r'"([^"]*)"', dims)
    mesh = next(
        op.sym_name
        for op in module.walk()
        if isinstance(op, MeshOp) and all(op.mesh.has_axis(axis) for axis in axes)
    )
    assert isinstance(type, RankedTensor)
    shape = "x".join(map(str, (*type.shape, "f32")))
    meshes = "".join(f"{print_op(op)}\n" for op in module.walk() if isinstance(op, MeshOp))
    attribute = f"{{sdy.sharding = #sdy.sharding<@{mesh}, {dims}>}}"
    text = f"{meshes}func.func @f(%a: tensor<{shape}> {attribute}) {{\n  return\n}}"
    parsed, _ = parse_module(Source("sharding", text), DialectTable(find_dialect, all_dialects))
    function = next(op for op in parsed.walk() if isinstance(op, FuncOp))
    found = function.argument_attributes[0][SHARDING]
    assert isinstance(found, TensorSharding)
    return found


# --- Figures ----------------------------------------------------------------------------------------


def _figures(path: Path, folder: Path) -> tuple[int, int] | None:
    """The wire bytes and the peak memory in the report on a program; None if it is rejected."""
    report = folder / "report.json"
    done = _sdy_opt([str(path), f"--report={report}", "-o", "/dev/null"])
    if done.returncode:
        return None
    data = json.loads(report.read_text(encoding="utf-8"))
    wire = sum((each["wire_bytes"] or 0) * (each["times"] or [1, 1])[1] for each in data["collectives"])
    return round(Fraction(wire)), data["memory"]["peak"]


def _xla(path: Path, python: str, keep: Path | None) -> int | None:
    """What XLA sends on TPU and GPU; None if it rejects the program."""
    text = path.read_text(encoding="utf-8")
    sizes = re.findall(r"sdy\.mesh @\S+ = <\[(.*?)\]", text)
    devices = max((_product(re.findall(r"=(\d+)", each)) for each in sizes), default=1)
    hlo = compiled_by_xla(path.stem.rpartition("_")[0] or path.stem, text, devices, python, keep)
    if hlo is None:
        return None
    return round(wire_bytes(on_accelerators(read_hlo(str(path), hlo, devices)).operands))


def _product(sizes: Sequence[str]) -> int:
    product = 1
    for size in sizes:
        product *= int(size)
    return product


def _direction(before: int, after: int) -> int:
    if _change(before, after) <= _CHANGE:
        return 0
    return 1 if after > before else -1


def _change(before: int, after: int) -> Fraction:
    """The change as a share of what is sent before."""
    return Fraction(abs(after - before), before or 1)


def _bytes(size: int) -> str:
    return bytes_text(Fraction(size))


def _parse(path: Path) -> Op:
    text = path.read_text(encoding="utf-8")
    return parse_module(Source(path.name, text), DialectTable(find_dialect, all_dialects))[0]


def _sdy_opt(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs sdy-opt in a fork of this process, which has imported it."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("stdout", "stderr")]
        sys.stdout.flush()
        child = os.fork()
        if not child:
            status = 1
            try:
                for path, number in zip(paths, (1, 2), strict=True):
                    os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY), number)
                sys.argv = ["sdy-opt", *arguments]
                sdy_opt()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
            finally:
                for stream in (sys.stdout, sys.stderr):
                    stream.flush()
                os._exit(status)
        _, state = os.waitpid(child, 0)
        texts = [path.read_text(encoding="utf-8") for path in paths]
    return subprocess.CompletedProcess([*arguments], os.waitstatus_to_exitcode(state), *texts)


if __name__ == "__main__":
    sys.exit(main())
