"""Canonicalization of drawn integer arithmetic in ifs: it computes the same, and as the page folds.txt says.

python -m tests.unit.dialects.test_drawn_folds    # writes the page
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest

import sdyopt
from sdyopt.mlir.dialects.arith.compare import CmpIOp, ConstantOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import IntegerType
from sdyopt.mlir.ir.value import Value
from tests.unit.report.programs import parts_of_page

PAGE = Path(__file__).with_name("folds.txt")
NAMES = (*(f"folds {number}" for number in range(40)), "x 105")

# --- Meaning --------------------------------------------------------------------------------------

_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "maxsi": max,
    "minsi": min,
}
_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "maxui": max,
    "minui": min,
    "shrui": lambda a, b: a >> b,
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
}
_PREDICATES: tuple[Callable[[int, int], bool], ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)
_PREDICATE_NAMES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


class _Undefined(Exception):
    """A division by zero, or a shift by more than the width."""


def _wrapped(value: int, width: int) -> int:
    """A value as a signed one of so many bits; of one bit, 1 is -1."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def _width(value: Value) -> int:
    return value.type.width if isinstance(value.type, IntegerType) else 64


def _results(block: Block, values: dict[Value, int]) -> list[int]:
    """The values of the operands of the terminator."""
    for op in block.ops:
        if op.is_terminator:
            return [values[operand] for operand in op.operands]
        if op.name == "scf.if":
            taken = 0 if values[op.operands[0]] else 1
            results = _results(op.regions[taken].blocks[0], values)
            values.update(zip(op.results, results, strict=True))
            continue
        values[op.results[0]] = _wrapped(
            _value(op, [values[item] for item in op.operands]), _width(op.results[0])
        )
    raise AssertionError("no terminator")


def _value(op: Op, operands: list[int]) -> int:
    name = op.name.removeprefix("arith.")
    if name == "constant":
        assert isinstance(op, ConstantOp) and isinstance(op.value, IntegerAttr)
        return _wrapped(op.value.value, _width(op.results[0]))
    width = _width(op.operands[0])
    unsigned = [value & ((1 << width) - 1) for value in operands]
    if name in _ARITHMETIC:
        return _ARITHMETIC[name](*operands)
    if name in _UNSIGNED:
        if (name == "shrui" and unsigned[1] >= width) or (name in ("divui", "remui") and not unsigned[1]):
            raise _Undefined
        return _UNSIGNED[name](*unsigned)
    if name in ("shli", "shrsi"):
        if unsigned[1] >= width:
            raise _Undefined
        return operands[0] << unsigned[1] if name == "shli" else operands[0] >> unsigned[1]
    if name in ("divsi", "remsi"):
        if not operands[1] or operands == [-(1 << (width - 1)), -1]:
            raise _Undefined
        quotient = (
            abs(operands[0]) // abs(operands[1]) * (1 if (operands[0] < 0) == (operands[1] < 0) else -1)
        )
        return quotient if name == "divsi" else operands[0] - quotient * operands[1]
    if name == "cmpi":
        assert isinstance(op, CmpIOp)
        number = op.predicate
        is_signed = number < 6
        return int(_PREDICATES[number if is_signed else number - 4](*(operands if is_signed else unsigned)))
    if name == "select":
        return operands[1] if operands[0] else operands[2]
    return {"extui": unsigned[0], "extsi": operands[0], "trunci": operands[0]}[name]


# --- Programs -------------------------------------------------------------------------------------

_TYPES = ("i8", "i1", "i16")


class _Drawn:
    """Writes operations that the bytes of a hash choose."""

    def __init__(self, key: str) -> None:
        self._bytes = (byte for number in count() for byte in sha256(f"{key} {number}".encode()).digest())
        self._numbers = count()

    def below(self, limit: int) -> int:
        return next(self._bytes) % limit

    def _name(self) -> str:
        return f"%v{next(self._numbers)}"

    def _operand(self, values: list[tuple[str, str]], type: str, lines: list[str]) -> str:
        """A value of a type, or in three of eight cases a constant."""
        known = [name for name, of_type in values if of_type == type]
        if known and self.below(8) > 2:
            return known[-1 - min(self.below(len(known)), self.below(len(known)))]
        name = self._name()
        if type == "i1":
            text = ("false", "true")[self.below(2)]
        else:
            text = f"{(0, 1, -1, 2, 3, 127, -128, 7)[self.below(8)]} : {type}"
        lines.append(f"{name} = arith.constant {text}")
        return name

    def operation(self, values: list[tuple[str, str]], depth: int) -> list[str]:
        """The lines of an operation, whose result is added to the values."""
        lines: list[str] = []
        name, kind, type = self._name(), self.below(20), _TYPES[self.below(8) % 3]
        if kind < 9:
            names = (*_ARITHMETIC, *_UNSIGNED, "shli", "shrsi", "divsi", "remsi")
            left, right = (self._operand(values, type, lines) for _ in range(2))
            lines.append(f"{name} = arith.{names[self.below(len(names))]} {left}, {right} : {type}")
        elif kind < 13:
            left, right = (self._operand(values, type, lines) for _ in range(2))
            lines.append(f"{name} = arith.cmpi {_PREDICATE_NAMES[self.below(10)]}, {left}, {right} : {type}")
            type = "i1"
        elif kind < 15:
            taken, left, right = (self._operand(values, each, lines) for each in ("i1", type, type))
            lines.append(f"{name} = arith.select {taken}, {left}, {right} : {type}")
        elif kind < 17:
            small, wide = (("i1", "i8"), ("i8", "i16"), ("i1", "i16"))[self.below(3)]
            if self.below(3):
                sign, narrow = "us"[self.below(2)], self._operand(values, small, lines)
                lines.append(f"{name} = arith.ext{sign}i {narrow} : {small} to {wide}")
                type = wide
            else:
                lines.append(
                    f"{name} = arith.trunci {self._operand(values, wide, lines)} : {wide} to {small}"
                )
                type = small
        else:
            types = [_TYPES[self.below(3)] for _ in range(1 + self.below(3))]
            taken = self._operand(values, "i1", lines)
            branches = []
            for _ in range(2):
                inside, of_branch = list(values), list[str]()
                for _ in range(self.below(3) if depth < 2 else 0):
                    of_branch += self.operation(inside, depth + 1)
                yielded = [self._operand(inside, each, of_branch) for each in types]
                branches.append([*of_branch, f"scf.yield {', '.join(yielded)} : {', '.join(types)}"])
            lines += [
                f"{name}:{len(types)} = scf.if {taken} -> ({', '.join(types)}) {{",
                *branches[0],
                "} else {",
            ]
            lines += [*branches[1], "}"]
            values += [(f"{name}#{number}", each) for number, each in enumerate(types)]
            return lines
        values.append((name, type))
        return lines


def program(name: str) -> str:
    drawn = _Drawn(name)
    values = [("%a", "i8"), ("%b", "i8"), ("%x", "i1"), ("%y", "i1")]
    lines = [line for _ in range(10) for line in drawn.operation(values, 0)]
    returned = values[-4:]
    types = ", ".join(type for _, type in returned)
    return f"""func.func @main(%a: i8, %b: i8, %x: i1, %y: i1) -> ({types}) {{
  {chr(10).join(lines)}
  return {", ".join(value for value, _ in returned)} : {types}
}}"""


def part_of(name: str) -> str:
    """The part of the page for a program: what it is canonicalized to."""
    text = str(sdyopt.parse(program(name)).run("canonicalize"))
    return "".join(f"{line}\n" for line in (name, *(f"  {line}" for line in text.splitlines()[2:-2])))


def _all_results(module: Any) -> Iterator[list[int] | None]:
    """The results for some arguments; None where they are undefined."""
    function = next(op for op in module.ir.walk() if isinstance(op, FuncOp))
    block = function.body.blocks[0]
    numbers = (-128, -1, 0, 3, 127)
    for arguments in product(numbers, numbers, (0, -1), (0, -1)):
        try:
            yield _results(block, dict(zip(block.arguments, arguments, strict=True)))
        except _Undefined:
            yield None


@pytest.mark.parametrize("name", NAMES)
def test_canonicalized_arithmetic_computes_the_same(name: str) -> None:
    module = sdyopt.parse(program(name))
    before = list(_all_results(module))
    for old, new in zip(before, _all_results(module.run("canonicalize")), strict=True):
        assert old is None or old == new
    assert part_of(name) == parts_of_page(PAGE).get(name)


if __name__ == "__main__":
    PAGE.write_text("".join(map(part_of, NAMES)), encoding="utf-8")
