"""The names that values have in the source, which passes do not keep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.base.diagnostics.location import resolve_file_location
from sdyopt.base.diagnostics.source import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.error_help.op_offsets import without_locations
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import symbol_name
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, OpResult, Value

_NAME = re.compile(r"%[A-Za-z0-9_$.-]+(?:#\d+)?")
# `%0 = `, `%0:2 = ` or `%a, %b:2 = ` before an operation, whose location may be after its name.
_RESULTS = re.compile(r"%[A-Za-z0-9_$.-]++(?::\d++)?+(?:\s*+,\s*+%[A-Za-z0-9_$.-]++(?::\d++)?+)*+")
_ASSIGNED = re.compile(r"\s*+=\s*+[\w.]*+\s*+\Z")
# Characters before the name of an operation in which its results are looked for.
_WINDOW = 4000


class InputName(NamedTuple):
    """The name of a value in the source, the function that defines it, and its offset."""

    function: str
    name: str
    offset: int


class InputNames:
    """The names of the values of a program that has just been parsed, and the offsets of its operations.

    `returned` are the values that each function returns.
    """

    def __init__(self, source: Source, module: Op, dialects: DialectTable, options: ParseOptions) -> None:
        self.source = source
        self.module = module
        self.of_value: dict[Value, InputName] = {}
        self.offset_of_op: dict[Op, int] = {}
        self.functions: dict[str, FuncOp] = {}
        # The offsets of the lists of result names that are assigned.
        self._seen: set[int] = set()
        self.returned: dict[tuple[str, int], Value] = {}
        twins: Iterator[Op] = module.walk()
        if "loc(" in source.text or "loc " in source.text:
            # Locations that the text states replace offsets; without them, the same program has offsets.
            plain = Source(source.name, without_locations(source.text))
            with handling(lambda _: None):
                twins = parse_module(plain, dialects, options)[0].walk()
        for op, twin in zip(module.walk(), twins, strict=False):
            self._add(op, twin)

    def _add(self, op: Op, twin: Op) -> None:
        if isinstance(op, FuncOp):
            self.functions[op.sym_name] = op
            terminator = None if op.is_declaration else op.entry.last
            for index, value in enumerate(() if terminator is None else terminator.operands):
                self.returned[op.sym_name, index] = value
        offset = self._offset(twin.lazy_location)
        if offset is not None:
            self.offset_of_op[op] = offset
            if op.results:
                self._add_results(op, offset)
        for region, other in zip(op.regions, twin.regions, strict=False):
            for block, same in zip(region.blocks, other.blocks, strict=False):
                for argument, each in zip(block.arguments, same.arguments, strict=False):
                    self._add_argument(op, argument, each)

    def _add_results(self, op: Op, offset: int) -> None:
        text = self.source.text
        window = max(0, offset - _WINDOW)
        # Nearly always they are on the same line.
        line_start = max(window, text.rfind("\n", 0, offset) + 1)
        match = _results_before(text, line_start, offset) or _results_before(text, window, offset)
        # The operations in the region of a reduction in short form have the offset of the reduction.
        if match is None or match.start() in self._seen:
            return
        self._seen.add(match.start())
        function = _function_of(op)
        names: list[str] = []
        for group in match[0].split(","):
            name, _, count = group.strip().partition(":")
            names += [f"{name}#{index}" for index in range(int(count))] if count else [name]
        for result, name in zip(op.results, names, strict=False):
            self.of_value[result] = InputName(function, name, match.start())

    def _add_argument(self, op: Op, argument: BlockArgument, twin: BlockArgument) -> None:
        offset = self._offset(twin.lazy_location)
        match = None if offset is None else _NAME.match(self.source.text, offset)
        if match is not None:
            self.of_value[argument] = InputName(_function_of(op), match[0], match.start())

    def _offset(self, location: LazyLocation) -> int | None:
        """The offset of a location that the text does not state."""
        if isinstance(location, tuple):
            return location[1]
        point = resolve_file_location(location)
        if point is None or point.file != self.source.name:
            return None
        return self.source.offset_of(point.line, point.column)


def _results_before(text: str, start: int, offset: int) -> re.Match[str] | None:
    """The list of results that is assigned what is at `offset`."""
    lists = _RESULTS.finditer(text, start, offset)
    return next((found for found in lists if _ASSIGNED.match(text, found.end(), offset)), None)


def _function_of(op: Op) -> str:
    function = op if isinstance(op, FuncOp) else op.parent_of_type(FuncOp)
    return "" if function is None else symbol_name(function) or ""


def block_or_result(value: Value) -> OpResult | BlockArgument:
    """The value, as one of the two kinds that there are."""
    assert isinstance(value, OpResult | BlockArgument)
    return value
