"""Text → IR.

`parse_module` reads a source. Regions are read statement by statement: by a recipe if the
statement's spelling has been read before (see `spelling`), else by the assembly of its operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sdyopt.diagnostics.diagnostic import DiagnosticError, emit
from sdyopt.diagnostics.location import FileLoc
from sdyopt.diagnostics.source import Source
from sdyopt.ir.attribute import EMPTY_DICT
from sdyopt.ir.block import Block, Region
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op, UnregisteredOp, build
from sdyopt.ir.value import LazyLocation
from sdyopt.syntax.chunk import Chunk, UnresolvedLocation
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.generic import parse_generic
from sdyopt.syntax.resources import Resources
from sdyopt.syntax.scope import Scope
from sdyopt.syntax.spelling import NAMES, Recipe, build_by_recipe, recipe_of, split_location
from sdyopt.syntax.statement import Argument, Statement

# Regions nested deeper than this are refused.
MAX_REGION_DEPTH = 1000

_STATEMENT = re.compile(r"(?:[ \t\r\n]|//[^\n]*)*+")
_REST_OF_LINE = re.compile(r"[ \t\r]*(?://[^\n]*)?(?:\n|\Z)")
_RESULT = re.compile(r"(%[\w$.-]+)(?:\s*:\s*(\d+))?")
_OP_NAME = re.compile(r"[A-Za-z_][\w$.]*")
_QUOTED_NAME = re.compile(r'"([^"\n]*)"')
_LABEL = re.compile(r"\^[\w$.-]+")


@dataclass(frozen=True)
class ParseOptions:
    """How a source is read.

    `uses_spellings=False` parses every statement properly: slower, and the same result.
    """

    allow_unregistered_dialects: bool = False
    uses_spellings: bool = True


@dataclass(slots=True)
class _Blocks:
    """The labels of a region: blocks that are defined, and those that are only branched to."""

    defined: dict[str, Block] = field(default_factory=dict)
    awaited: dict[str, tuple[Block, int]] = field(default_factory=dict)


def parse_module(
    source: Source, dialects: DialectTable, options: ParseOptions = ParseOptions()
) -> tuple[Op, Resources]:
    """The module of a source, and the resources of its `{-# … #-}` section.

    Top-level operations that are not one module are put into a module. Raises DiagnosticError.
    The result has not been verified.
    """
    return Parser(source, dialects, options).module()


class Parser:
    """Reads one source."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self.source = source
        self.text = source.text
        self.dialects = dialects
        self.options = options
        self.chunk = Chunk(source, dialects, options.allow_unregistered_dialects)
        self.pieces = self.chunk.pieces
        self.spell_type = self.chunk.spell_type
        self.scope = Scope(source)
        self._position = 0
        self._depth = 0
        self._blocks: list[_Blocks] = []
        self._default_dialect = "builtin"
        # Spellings by the default dialect that they were read under.
        self._recipes: dict[str, dict[str, Recipe]] = {}

    # --- The whole source ---------------------------------------------------------------

    def module(self) -> tuple[Op, Resources]:
        block = Block()
        cursor = Cursor(self.source, self.pieces)
        while not cursor.at_end:
            if self.chunk.top_level(cursor):
                continue
            self._position = cursor.position
            self._statement(block)
            cursor.position = self._position
        self._check_all_defined()
        self.chunk.finish()
        first = block.first
        if first is not None and first is block.last and first.form.name == "builtin.module":
            block.detach(first)
            return first, self.chunk.resources
        module_class = self.dialects.op_class("builtin.module")
        assert module_class is not None
        region = Region()
        region.add_block(block)
        form = Form(module_class, module_class.name, EMPTY_DICT, (), ())
        module = build(form, (), location=FileLoc(self.source.name, 0, 0), regions=(region,))
        return module, self.chunk.resources

    # --- Regions and blocks ---------------------------------------------------------------

    def region(self, cursor: Cursor, op_class: type[Op], arguments: Sequence[Argument] | None) -> Region:
        """Reads `{ … }` of an operation of this class, whose first block has these arguments."""
        cursor.expect("{", " to begin a region")
        if self._depth >= MAX_REGION_DEPTH:
            raise cursor.error(f"regions are nested deeper than {MAX_REGION_DEPTH}")
        outer = self._default_dialect
        self._default_dialect = op_class.default_dialect
        mark = self.scope.mark()
        self._blocks.append(_Blocks())
        self._depth += 1
        self._position = cursor.position
        region = self._region_body(arguments)
        cursor.position = self._position
        self._depth -= 1
        self._blocks.pop()
        self.scope.release(mark)
        self._default_dialect = outer
        return region

    def successor(self, cursor: Cursor) -> Block:
        """Reads `^label`: a block of the region around the statement."""
        offset = cursor.skip()
        match = _LABEL.match(self.text, offset)
        if match is None:
            raise cursor.misplaced("expected block name")
        cursor.position = match.end()
        blocks = self._blocks[-1]
        if match[0] in blocks.defined:
            return blocks.defined[match[0]]
        return blocks.awaited.setdefault(match[0], (Block(), offset))[0]

    def _region_body(self, arguments: Sequence[Argument] | None) -> Region:
        region = Region()
        position = self._skip()
        is_unlabelled = arguments or self.text[position : position + 1] not in ("^", "}")
        if is_unlabelled:
            block = region.add_block()
            for argument in arguments or ():
                self._add_argument(block, argument)
            if arguments and self.text.startswith("^", position):
                raise self._cursor().error("invalid block name in region with named arguments")
            self._block_body(block)
        while self.text.startswith("^", self._skip()):
            self._labelled_block(region)
        cursor = self._cursor()
        if not cursor.accept("}"):
            raise self._unreadable()
        self._position = cursor.position
        for name, (_, offset) in self._blocks[-1].awaited.items():
            raise cursor.error(f"reference to an undefined block '{name}'", offset)
        return region

    def _labelled_block(self, region: Region) -> None:
        cursor = self._cursor()
        match = _LABEL.match(self.text, cursor.skip())
        if match is None:
            raise cursor.misplaced("expected block name")
        offset, cursor.position = match.start(), match.end()
        blocks = self._blocks[-1]
        if match[0] in blocks.defined:
            raise cursor.error(f"redefinition of block '{match[0]}'", offset)
        block = blocks.awaited.pop(match[0], (Block(), offset))[0]
        blocks.defined[match[0]] = region.add_block(block)
        statement = Statement(self, cursor.position, "", UnregisteredOp, offset)
        if statement.looking_at("("):
            for argument in statement.comma_list(statement.argument, "(", ")"):
                self._add_argument(block, argument)
        statement.expect(":", " after block name")
        self._position = statement.position
        self._block_body(block)

    def _add_argument(self, block: Block, argument: Argument) -> None:
        value = block.add_argument(argument.type, argument.location)
        if argument.name in self.scope.values:
            raise DiagnosticError.at(
                self.source.location(argument.offset),
                f"region entry argument '{argument.name}' is already in use",
            ).note("previously referenced here", self.source.location(self.scope.places[argument.name]))
        self.scope.define(argument.name, value, argument.offset, self.spell_type)
        self.chunk.defer(value)

    def _block_body(self, block: Block) -> None:
        """Reads statements up to a label, a closing brace or the end."""
        text = self.text
        skip = _STATEMENT.match
        is_fast = self.options.uses_spellings
        previous = -1
        while True:
            match = skip(text, self._position)
            assert match is not None
            start = self._position = match.end()
            first = text[start : start + 1]
            if first in ("}", "^", ""):
                return
            if is_fast and self._by_recipe(block, start):
                previous = start
                continue
            if previous < 0:
                self._statement(block)
                continue
            try:
                self._statement(block)
            except DiagnosticError:
                # The line before may have been a part of its statement only.
                self._retract(block)
                self._position = previous
                self._statement(block)
            previous = -1

    def _check_all_defined(self) -> None:
        errors = self.scope.undefined()
        for error in errors[:-1]:
            emit(error.diagnostic)
        if errors:
            raise errors[-1]

    # --- Statements ---------------------------------------------------------------------

    def _by_recipe(self, block: Block, start: int) -> bool:
        """Reads a one-line statement whose spelling is known; False if it is not."""
        scope = self.scope
        recipes = self._recipes.get(self._default_dialect)
        if recipes is None or scope.forward:
            return False
        text = self.text
        end = text.find("\n", start)
        if end < 0:
            end = len(text)
        line, location = text[start:end], None
        if line[-1] == ")":
            line, place = split_location(line)
            if place and (location := self.chunk.known_location(place)) is None:
                return False
        parts = NAMES.split(line)
        recipe = recipes.get("%".join(parts[::2]))
        if recipe is None:
            return False
        names = parts[1::2]
        op = build_by_recipe(recipe, names, scope.values)
        if op is None:
            return False
        count = len(recipe.groups)
        if count == 1:
            name = names[0]
            op._location = location or (self.source, start + len(name) + recipe.place)
            scope.values[name] = op.results[0]
            scope.places[name] = start
            if len(op.results) > 1:
                for index in range(1, len(op.results)):
                    scope.define(f"{name}#{index}", op.results[index], start, self.spell_type)
        else:
            op._location = location or (
                self.source,
                start + len("".join(parts[: 2 * count])) + recipe.place,
            )
            self._define_groups(op, list(zip(names, recipe.groups, strict=False)), start)
        block.append(op)
        if type(location) is UnresolvedLocation:
            self.chunk.defer(op)
        if recipe.complete is not None:
            self._complete(op, recipe.complete)
        self._position = end
        return True

    def _complete(self, op: Op, complete: Callable[[Op], None]) -> None:
        """Adds to an operation the regions that its text implies, which stand where it stands."""
        complete(op)
        if type(op._location) is not UnresolvedLocation:
            return
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    self.chunk.defer(argument)
                for inner in block.ops:
                    self.chunk.defer(inner)

    def _define_groups(self, op: Op, groups: list[tuple[str, int]], offset: int) -> None:
        position = 0
        for name, size in groups:
            offset = self.text.find(name, offset)
            results = op.results[position : position + size]
            self.scope.define_results(name, results, offset, self.spell_type)
            position += size

    def _statement(self, block: Block) -> None:
        """Reads a statement properly, and leaves a recipe for its spelling if it has one."""
        start = self._skip()
        groups = self._result_groups()
        self._skip()
        statement = self._operation()
        end_of_body = statement.position
        location = self.trailing_location(statement)
        self._position = statement.position
        op = statement.finish(location or (self.source, statement.place))
        self._name_results(op, groups, start)
        block.append(op)
        self.chunk.defer(op)
        if statement.complete is not None:
            self._complete(op, statement.complete)
        if self.options.uses_spellings and _REST_OF_LINE.match(self.text, self._position):
            self._remember(op, statement, groups, start, end_of_body, location is not None)

    def _remember(
        self,
        op: Op,
        statement: Statement,
        groups: list[tuple[str, int, int]],
        start: int,
        end_of_body: int,
        has_location: bool,
    ) -> None:
        end = self.text.find("\n", start)
        line = self.text[start : end if end >= 0 else len(self.text)]
        body, place = split_location(line)
        is_split_right = start + len(body) == end_of_body if has_location else not place
        if self._position > start + len(line) or not is_split_right:
            return
        sizes = tuple(size for _, size, _ in groups)
        recipe = recipe_of(
            op, body, start, sizes, statement.operand_offsets, statement.place, statement.complete
        )
        if recipe is not None:
            recipes = self._recipes.setdefault(self._default_dialect, {})
            recipes["%".join(NAMES.split(body)[::2])] = recipe

    def _result_groups(self) -> list[tuple[str, int, int]]:
        """Reads `%a, %b:2 =`: (name, number of results, offset) of each."""
        groups: list[tuple[str, int, int]] = []
        cursor = self._cursor()
        if not self.text.startswith("%", cursor.skip()):
            return groups
        while True:
            match = _RESULT.match(self.text, cursor.skip())
            if match is None:
                raise cursor.misplaced("expected valid ssa identifier")
            size = int(match[2][:9]) if match[2] else 1
            if size < 1:
                raise cursor.error("expected named operation to have atleast 1 result", match.start(2))
            groups.append((match[1], size, match.start(1)))
            cursor.position = match.end()
            if not cursor.accept(","):
                break
        cursor.expect("=", " after SSA name")
        self._position = cursor.position
        return groups

    def _operation(self) -> Statement:
        """Reads what stands right of `=`, up to the location."""
        text, offset = self.text, self._position
        quoted = _QUOTED_NAME.match(text, offset)
        if quoted is not None:
            return parse_generic(self, quoted[1], offset, quoted.end())
        match = _OP_NAME.match(text, offset)
        if match is None:
            raise self._unreadable()
        written = match[0]
        name = written if "." in written else f"{self._default_dialect}.{written}"
        op_class = self.dialects.op_class(name)
        if op_class is None or op_class.assembly is None:
            raise self._unknown_op(written, name, offset, is_defined=op_class is not None)
        statement = Statement(self, match.end(), name, op_class, offset)
        op_class.assembly.parse(statement)
        return statement

    def _unknown_op(self, written: str, name: str, offset: int, is_defined: bool) -> DiagnosticError:
        if is_defined:
            message = f"custom op '{name}' has no custom assembly form"
        else:
            tried = f" (tried '{name}' as well)" if name != written and self._default_dialect else ""
            message = f"custom op '{written}' is unknown{tried}"
        return DiagnosticError.at(self.source.location(offset), message)

    def _name_results(self, op: Op, groups: list[tuple[str, int, int]], start: int) -> None:
        if not groups:
            return
        total = sum(size for _, size, _ in groups)
        place = self.source.location(start)
        if not op.results:
            raise DiagnosticError.at(place, "cannot name an operation with no results")
        if total != len(op.results):
            raise DiagnosticError.at(
                place, f"operation defines {len(op.results)} results but was provided {total} to bind"
            )
        position = 0
        for name, size, offset in groups:
            results = op.results[position : position + size]
            self.scope.define_results(name, results, offset, self.spell_type)
            position += size

    def trailing_location(self, cursor: Cursor) -> LazyLocation | None:
        """Reads `loc(…)` behind a statement or an argument, if it is there."""
        if not cursor.looking_at("loc"):
            return None
        return self.chunk.location(cursor)

    def _retract(self, block: Block) -> None:
        """Takes back the last operation of a block, which was read by a recipe."""
        op = block.last
        assert op is not None
        for result in op.results:
            name = next(name for name, value in self.scope.values.items() if value is result)
            del self.scope.values[name], self.scope.places[name]
        for use in op.operand_uses:
            use.unlink()
        block.detach(op)

    # --- Positions ----------------------------------------------------------------------

    def _cursor(self) -> Cursor:
        return Cursor(self.source, self.pieces, self._position)

    def _skip(self) -> int:
        match = _STATEMENT.match(self.text, self._position)
        assert match is not None
        self._position = match.end()
        return self._position

    def _unreadable(self) -> DiagnosticError:
        return self._cursor().misplaced("expected operation name in quotes")
