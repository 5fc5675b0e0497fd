"""Text → IR.

`parse_module` reads a source. Regions are read statement by statement: by a recipe if the
statement's spelling has been read before (see `spelling`), else by the assembly of its operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.location import FileLoc, Location
from sdyopt.diagnostics.source import Source
from sdyopt.ir.attribute import EMPTY_DICT
from sdyopt.ir.block import Block, Region
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op, UnregisteredOp, build
from sdyopt.ir.value import LazyLocation
from sdyopt.syntax.chunk import Chunk, UnresolvedLocation
from sdyopt.syntax.cursor import BLANK, Cursor
from sdyopt.syntax.extents import INTEGER_TYPE, NAME, SPACE
from sdyopt.syntax.generic import parse_generic, settle_properties
from sdyopt.syntax.labels import Labels, raise_all
from sdyopt.syntax.resources import Resources
from sdyopt.syntax.scope import Scope
from sdyopt.syntax.spelling import NAMES, Recipe, build_by_recipe, build_usual, recipe_of, split_location
from sdyopt.syntax.statement import Argument, Statement

# Regions nested deeper than this are refused.
MAX_REGION_DEPTH = 1000

_REST_OF_LINE = re.compile(r"[ \t\r]*(?://[^\r\n]*\r?)?(?:\n|\Z)")
_RESULT = re.compile(rf"%{NAME}", re.ASCII)
_RESULT_COUNT = re.compile(SPACE + r"(0x[0-9a-fA-F]+|\d++(?!\.))", re.ASCII)
_LABEL = re.compile(rf"\^{NAME}", re.ASCII)


@dataclass(frozen=True)
class ParseOptions:
    """How a source is read.

    `uses_spellings=False` parses every statement properly: slower, and the same result.
    """

    allow_unregistered_dialects: bool = False
    uses_spellings: bool = True


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
        self.scope = Scope(source, self.spell_type)
        self._position = 0
        self._depth = 0
        # The labels of the regions around, innermost last.
        self._labels = [Labels()]
        # Spellings by the default dialect that they were read under, and those under the present one.
        self._recipes: dict[str, dict[str, Recipe]] = {}
        self._speak("builtin")

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
        raise_all(self.scope.undefined(cursor))
        self.chunk.finish(cursor)
        self._labels[0].check(cursor)
        first = block.first
        if first is not None and first is block.last and first.signature.name == "builtin.module":
            block.detach(first)
            return first, self.chunk.resources
        module_class = self.dialects.op_class("builtin.module")
        assert module_class is not None
        region = Region()
        region.add_block(block)
        signature = OpSignature(module_class, module_class.name, EMPTY_DICT, (), ())
        module = build(signature, (), location=FileLoc(self.source.name, 0, 0), regions=(region,))
        return module, self.chunk.resources

    # --- Regions and blocks ---------------------------------------------------------------

    def region(self, statement: Statement, arguments: Sequence[Argument] | None) -> Region:
        """Reads `{ … }` of a statement, whose first block has these arguments."""
        statement.expect("{", " to begin a region")
        if self._depth >= MAX_REGION_DEPTH:
            raise statement.fault(f"regions are nested deeper than {MAX_REGION_DEPTH}")
        region = Region()
        if not arguments and statement.accept("}"):
            return region
        outer = self._default_dialect
        if not statement.is_generic:
            self._speak(statement.op_class.default_dialect)
        mark = self.scope.mark()
        self._labels.append(Labels())
        self._depth += 1
        self._position = statement.position
        self._region_body(region, arguments or ())
        statement.position = self._position
        self._labels[-1].check(statement)
        statement.expect("}")
        self._depth -= 1
        self._labels.pop()
        self.scope.release(mark)
        self._speak(outer)
        return region

    def _speak(self, dialect: str) -> None:
        """From here on, operations of this dialect are written without its name."""
        self._default_dialect = dialect
        self._known = self._recipes.setdefault(dialect, {})

    def successor(self, cursor: Cursor) -> Block:
        """Reads `^label`: a block of the region around the statement."""
        label, offset = self._label(cursor)
        return self._labels[-1].use(label, offset)

    def _label(self, cursor: Cursor) -> tuple[str, int]:
        offset = cursor.skip()
        match = _LABEL.match(self.text, offset)
        if match is None:
            raise cursor.misplaced("expected block name")
        cursor.position = match.end()
        return match[0], offset

    def _region_body(self, region: Region, arguments: Sequence[Argument]) -> None:
        is_labelled = self.text.startswith("^", self._skip())
        names = [argument for argument in arguments if argument.name]
        if names and is_labelled:
            raise self._cursor().error("invalid block name in region with named arguments")
        if not is_labelled:
            block = region.add_block()
            for argument in names:
                self._add_entry_argument(block, argument)
            self._block_body(block)
        while self.text.startswith("^", self._skip()):
            self._labelled_block(region)
        if not self.text.startswith("}", self._position):
            raise self._unreadable()

    def _labelled_block(self, region: Region) -> None:
        cursor = self._cursor()
        label, offset = self._label(cursor)
        block = region.add_block(self._labels[-1].define(label, cursor, offset))
        statement = Statement(self, cursor.position, "", UnregisteredOp, offset)
        if statement.looking_at("("):
            statement.comma_list(lambda: self._add_argument(block, statement.block_argument()), "(", ")")
        statement.expect(":", " after block name")
        self._position = statement.position
        self._block_body(block)

    def _add_entry_argument(self, block: Block, argument: Argument) -> None:
        place = self.scope.places.get(argument.name)
        if place is not None:
            message = f"region entry argument '{argument.name}' is already in use"
            error = self._cursor().error(message, argument.offset)
            raise error.note("previously referenced here", self.source.location(place))
        self._add_argument(block, argument)

    def _add_argument(self, block: Block, argument: Argument) -> None:
        value = block.add_argument(argument.type, argument.location)
        self.scope.define(argument.name, value, argument.offset, self._cursor())
        self.chunk.defer(value)

    def _block_body(self, block: Block) -> None:
        """Reads statements up to a label, a closing brace or the end."""
        while True:
            previous = self._known_lines(block) if self.options.uses_spellings else -1
            start = self._skip()
            if self.text[start : start + 1] in ("}", "^", ""):
                return
            if previous < 0:
                self._statement(block)
            else:
                self._statement_behind(block, previous)

    def _statement_behind(self, block: Block, previous: int) -> None:
        """Reads a statement properly, the one before it, from `previous` on, having been read by a recipe.

        If that fails, the line before may have been only a part of its statement.
        """
        start, mark, depth, dialect = self._position, self.scope.mark(), self._depth, self._default_dialect
        try:
            self._statement(block)
        except DiagnosticError:
            del self._labels[depth + 1 :]
            self._labels[-1].forget_from(start)
            self._depth = depth
            self._speak(dialect)
            self.scope.release(mark)
            # A recipe is only used where no name waits for its definition.
            self.scope.forget_forward()
            self._retract(block)
            self._position = previous
            self._statement(block)

    # --- Statements ---------------------------------------------------------------------

    def _known_lines(self, block: Block) -> int:
        """Reads one-line statements as long as their spellings are known; where the last one starts, or -1.

        Most of a program is read here, so this is flat.
        """
        text, source, known, scope, last = self.text, self.source, self._known, self.scope, -1
        values, places, position = scope.values, scope.places, self._position
        if scope.forward:
            return last
        while True:
            blank = BLANK.match(text, position)
            assert blank is not None
            start = blank.end()
            end = text.find("\n", start)
            if end < 0:
                end = len(text)
            line, given = text[start:end], None
            if line[-1:] == ")":
                line, place = split_location(line)
                if place and (given := self.chunk.known_location(place, start + len(line) + 1)) is None:
                    return last
            parts = NAMES.split(line)
            recipe = known.get("%".join(parts[::2]))
            if recipe is None:
                return last
            names = parts[1::2]
            if recipe.is_usual and given is None:
                name = names[0]
                op = None
                if name not in values:
                    op = build_usual(recipe, names, values, (source, start + len(name) + recipe.place))
                if op is None:
                    return last
                values[name] = op.results[0]
                places[name] = start
                block.append(op)
            elif not self._unusual_line(block, recipe, parts, start, given):
                return last
            last, position = start, end
            self._position = end

    def _unusual_line(
        self, block: Block, recipe: Recipe, parts: list[str], start: int, given: Location | None
    ) -> bool:
        """Reads a statement with several results or none, with a location, or with regions it implies."""
        names, count = parts[1::2], len(recipe.groups)
        location: LazyLocation
        if given is not None:
            location = given
        else:
            location = (self.source, start + len("".join(parts[: 2 * count])) + recipe.place)
        op = build_by_recipe(recipe, names, self.scope.values, location)
        if op is None:
            return False
        if count == 1 and len(op.results) == 1:
            self.scope.values[names[0]] = op.results[0]
            self.scope.places[names[0]] = start
        elif count:
            self._define_groups(op, list(zip(names, recipe.groups, strict=False)), start)
        block.append(op)
        if given is not None:
            self.chunk.defer(op)
        if recipe.complete is not None:
            self._complete(op, recipe.complete)
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
        position, cursor = 0, self._cursor()
        for name, size in groups:
            offset = self.text.find(name, offset)
            results = op.results[position : position + size]
            self.scope.define_results(name, results, offset, cursor)
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
        if statement.properties is not None:
            settle_properties(statement)
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
            self._known["%".join(NAMES.split(body)[::2])] = recipe

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
            cursor.position = match.end()
            size = self._result_count(cursor) if cursor.accept(":") else 1
            groups.append((match[0], size, match.start()))
            if not cursor.accept(","):
                break
        cursor.expect("=", " after SSA name")
        self._position = cursor.position
        return groups

    def _result_count(self, cursor: Cursor) -> int:
        match = _RESULT_COUNT.match(self.text, cursor.position)
        if match is None:
            raise cursor.misplaced("expected integer number of results")
        count = int(match[1][:20], 0) if match[1][1:2] == "x" else int(match[1][:20])
        if not 1 <= count < 1 << 64:
            raise cursor.error("expected named operation to have at least 1 result")
        cursor.position = match.end()
        return count

    def _operation(self) -> Statement:
        """Reads what stands right of `=`, up to the location."""
        cursor = self._cursor()
        offset = cursor.skip()
        name = cursor.accept_string()
        if name is not None:
            return parse_generic(self, name, offset, cursor.position)
        written = cursor.accept_word()
        if written is None or INTEGER_TYPE.fullmatch(written):
            cursor.position = offset
            raise cursor.misplaced("expected operation name in quotes")
        name = written if "." in written else f"{self._default_dialect}.{written}"
        op_class = self.dialects.op_class(name)
        if op_class is None or op_class.assembly is None:
            raise self._unknown_op(written, name, cursor, offset)
        statement = Statement(self, cursor.position, name, op_class, offset)
        op_class.assembly.parse(statement)
        statement.settle()
        return statement

    def _unknown_op(self, written: str, name: str, cursor: Cursor, offset: int) -> DiagnosticError:
        namespace, _, mnemonic = name.partition(".")
        dialect = self.dialects.find(namespace)
        tried = f" (tried '{name}' as well)" if name != written else ""
        if dialect is None:
            available = ", ".join(self.dialects.names())
            error = cursor.error(f"Dialect `{namespace}' not found for custom op '{written}' {tried}", offset)
            return error.note(
                f"Available dialects: {available}; for more info on dialect registration see "
                "https://mlir.llvm.org/getting_started/Faq/#registered-loaded-dependent-whats-up-with-"
                "dialects-management"
            )
        if mnemonic in dialect.ops:
            return cursor.error(f"custom op '{name}' has no custom assembly form", offset)
        return cursor.error(f"custom op '{written}' is unknown{tried}", offset)

    def _name_results(self, op: Op, groups: list[tuple[str, int, int]], start: int) -> None:
        if not groups:
            return
        total = sum(size for _, size, _ in groups)
        cursor = self._cursor()
        if not op.results:
            raise cursor.error("cannot name an operation with no results", start)
        if total != len(op.results):
            raise cursor.error(
                f"operation defines {len(op.results)} results but was provided {total} to bind", start
            )
        position = 0
        for name, size, offset in groups:
            results = op.results[position : position + size]
            self.scope.define_results(name, results, offset, cursor)
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
        values, places = self.scope.values, self.scope.places
        for name in [name for name, value in values.items() if value.defining_op is op]:
            del values[name], places[name]
        for use in op.operand_uses:
            use.unlink()
        block.detach(op)

    # --- Positions ----------------------------------------------------------------------

    def _cursor(self) -> Cursor:
        return Cursor(self.source, self.pieces, self._position)

    def _skip(self) -> int:
        match = BLANK.match(self.text, self._position)
        assert match is not None
        self._position = match.end()
        return self._position

    def _unreadable(self) -> DiagnosticError:
        return self._cursor().misplaced("expected operation name in quotes")
