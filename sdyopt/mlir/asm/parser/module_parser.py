"""Parses a source into a module.

A statement in a region is built from a template if an equal one has been parsed before (see
`statement_cache`). Other statements are parsed by the assembly format of their operation, or in generic form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.diagnostics.location import FileLoc, Location, Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.base.releases import followed_release
from sdyopt.mlir.asm.lexical import BLOCK_ID, INTEGER_TYPE
from sdyopt.mlir.asm.parser.asm_parser import LEADING_TRIVIA, AsmParser
from sdyopt.mlir.asm.parser.generic_op import parse_generic, resolve_properties
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser
from sdyopt.mlir.asm.parser.parser_state import (
    MAX_TEMPLATE_LENGTH,
    NAMES,
    ParserState,
    Statement,
    UnresolvedLocation,
    build_from_template,
    build_simple,
    key_of,
    split_location,
    template_of,
)
from sdyopt.mlir.asm.parser.ssa_scope import (
    BlockLabels,
    ParseRecord,
    ResultGroup,
    Scope,
    parse_result_groups,
    raise_all,
)
from sdyopt.mlir.asm.parser.statement_templates import (
    Holes,
    OpenOpParser,
    OpenScope,
    StatementTemplates,
    TemplateSettings,
    statement_of,
)
from sdyopt.mlir.asm.resources import Resources
from sdyopt.mlir.ir.attribute import EMPTY_DICT
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.holes import HoleInspected, NumberHole
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import UNKNOWN, Op, UnregisteredOp, build
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import LazyLocation

_NO_DIALECT = ErrorKind("Dialect `{dialect}' not found for custom op '{name}' {tried}", explain="dialect")
_UNKNOWN_OPERATION = ErrorKind("custom op '{name}' is unknown{tried}", explain="operation")

# The maximum nesting depth of regions.
MAX_REGION_DEPTH = 1000

_REST_OF_LINE = constant_pattern(r"[ \t\r]*(?://[^\r\n]*\r?)?(?:\n|\Z)")
_LABEL = constant_pattern(BLOCK_ID)
_INTEGER_TYPE = constant_pattern(INTEGER_TYPE)


@dataclass(frozen=True)
class ParseOptions:
    """Options of the parser.

    Without the statement cache, every statement is parsed in full, which is slower and has the same
    result. Without an implicit module, the source must contain a single top-level operation.
    """

    allow_unregistered_dialects: bool = False
    uses_statement_cache: bool = True
    implicit_module: bool = True


def parse_module(
    source: Source,
    dialects: DialectTable,
    options: ParseOptions = ParseOptions(),
    record: ParseRecord | None = None,
) -> tuple[Op, Resources]:
    """The module of a source, and the resources of its `{-# … #-}` sections.

    Unless the source is a single module, its top-level operations are the body of a new one. Without an
    implicit module, the only top-level operation is returned. Nothing is verified. Fills the record, if
    any. Raises DiagnosticError.
    """
    parser = ModuleParser(source, dialects, options)
    parser.record = record
    return parser.module()


class ModuleParser:
    """Parses one source."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self.source = source
        self.text = source.text
        self.dialects = dialects
        self.options = options
        self.allows_unregistered = options.allow_unregistered_dialects
        self.state = ParserState(source, dialects, options.allow_unregistered_dialects)
        self.attribute_parser = self.state.attribute_parser
        self.type_text = self.state.type_text
        self.scope = Scope(source, self.type_text)
        self.record: ParseRecord | None = None
        self._position = 0
        self._depth = 0
        # The block labels of the enclosing regions, innermost last.
        self._labels = [BlockLabels()]
        self._templates_by_dialect: dict[str, StatementTemplates] = {}
        self._set_default_dialect("builtin")

    # --- The whole source ---------------------------------------------------------------

    def module(self) -> tuple[Op, Resources]:
        block = Block()
        parser = AsmParser(self.source, self.attribute_parser)
        while not parser.at_end:
            if self.state.accept_alias_or_resources(parser):
                continue
            self._position = parser.position
            self._parse_statement(block)
            parser.position = self._position
        raise_all(self.scope.undefined(parser))
        self.state.finish(parser)
        self._labels[0].check(parser)
        for templates in self._templates_by_dialect.values():
            templates.keep()
        if self.record is not None:
            self.record.add_names(self.scope, 0)
        first = block.first
        is_single = first is not None and first is block.last
        if first is not None and is_single and not self.options.implicit_module:
            block.detach(first)
            return first, self.state.resources
        if not self.options.implicit_module:
            count = sum(1 for _ in block.ops)
            message = f"source must contain a single top-level operation, found: {count}"
            error = DiagnosticError.at(FileLoc(self.source.name, 0, 0), message)
            raise error.help("remove --no-implicit-module")
        if first is not None and is_single and first.signature.name == "builtin.module":
            block.detach(first)
            return first, self.state.resources
        module_class = self.dialects.op_class("builtin.module")
        assert module_class is not None
        region = Region()
        region.add_block(block)
        signature = OpSignature(module_class, module_class.name, EMPTY_DICT, (), ())
        module = build(signature, (), location=FileLoc(self.source.name, 0, 0), regions=(region,))
        return module, self.state.resources

    def statements(self, types: Mapping[str, Type], dialect: str) -> Block:
        """A detached block with the statements of the source, which may use the arguments of the block.

        `types` are those of the arguments by their names, `%` included. The operations of `dialect` are
        written without its name.
        """
        block = Block()
        self._set_default_dialect(dialect)
        for name, type in types.items():
            self.scope.define(name, block.add_argument(type, UNKNOWN), 0, self._parser())
        self._parse_block_body(block)
        if self._position < len(self.text):
            raise self._expected_operation()
        parser = self._parser()
        raise_all(self.scope.undefined(parser))
        self.state.finish(parser)
        self._labels[0].check(parser)
        return block

    # --- Regions and blocks ---------------------------------------------------------------

    def region(self, op_parser: OpAsmParser, arguments: Sequence[Argument] | None) -> Region:
        """Parses a region `{ … }`, whose entry block has these arguments."""
        op_parser.expect("{", " to begin a region")
        if self._depth >= MAX_REGION_DEPTH:
            raise op_parser.unprefixed_error(f"regions are nested deeper than {MAX_REGION_DEPTH}")
        region = Region()
        if not arguments and op_parser.accept("}"):
            return region
        outer = self._default_dialect
        if not op_parser.is_generic:
            self._set_default_dialect(op_parser.op_class.default_dialect)
        mark = self.scope.mark()
        self._labels.append(BlockLabels())
        self._depth += 1
        self._position = op_parser.position
        self._parse_region_body(region, arguments or ())
        op_parser.position = self._position
        self._labels[-1].check(op_parser)
        op_parser.expect("}")
        self._depth -= 1
        self._labels.pop()
        if self.record is not None:
            self.record.add_names(self.scope, mark)
        self.scope.release(mark)
        self._set_default_dialect(outer)
        return region

    def _set_default_dialect(self, dialect: str) -> None:
        """Sets the dialect whose operations may be written without its namespace."""
        self._default_dialect = dialect
        if dialect not in self._templates_by_dialect:
            settings = self._template_settings(dialect)
            self._templates_by_dialect[dialect] = StatementTemplates(
                self.attribute_parser, self.dialects, settings
            )
        self._templates = self._templates_by_dialect[dialect]

    def _template_settings(self, dialect: str) -> TemplateSettings | None:
        """What templates under a default dialect depend on; None if they are not for other sources."""
        return TemplateSettings(followed_release(), self.allows_unregistered, dialect)

    def successor(self, parser: AsmParser) -> Block:
        """Parses `^label`: a block of the innermost enclosing region."""
        label, offset = self._label(parser)
        return self._labels[-1].use(label, offset)

    def _label(self, parser: AsmParser) -> tuple[str, int]:
        offset = parser.skip_trivia()
        match = _LABEL.match(self.text, offset)
        if match is None:
            raise parser.wrong_token_error("expected block name")
        parser.position = match.end()
        return match[0], offset

    def _parse_region_body(self, region: Region, arguments: Sequence[Argument]) -> None:
        start = self._position
        is_labelled = self.text.startswith("^", self._skip_trivia())
        # The first statement starts a line if nothing but trivia precedes it.
        self._position = start
        names = [argument for argument in arguments if argument.name]
        if names and is_labelled:
            raise self._parser().error("invalid block name in region with named arguments")
        if not is_labelled:
            block = region.add_block()
            for argument in names:
                self._add_entry_argument(block, argument)
            self._parse_block_body(block)
        while self.text.startswith("^", self._skip_trivia()):
            self._parse_labelled_block(region)
        if not self.text.startswith("}", self._position):
            raise self._expected_operation()

    def _parse_labelled_block(self, region: Region) -> None:
        parser = self._parser()
        label, offset = self._label(parser)
        block = region.add_block(self._labels[-1].define(label, parser, offset))
        op_parser = OpAsmParser(self, parser.position, "", UnregisteredOp, offset)
        if op_parser.looking_at("("):
            op_parser.comma_list(lambda: self._add_argument(block, op_parser.block_argument()), "(", ")")
        op_parser.expect(":", " after block name")
        self._position = op_parser.position
        self._parse_block_body(block)

    def _add_entry_argument(self, block: Block, argument: Argument) -> None:
        previous = self.scope.location(argument.name)
        if previous is not None:
            message = f"region entry argument '{argument.name}' is already in use"
            error = self._parser().error(message, argument.offset)
            raise error.note("previously referenced here", previous)
        self._add_argument(block, argument)

    def _add_argument(self, block: Block, argument: Argument) -> None:
        value = block.add_argument(argument.type, argument.location)
        self.scope.define(argument.name, value, argument.offset, self._parser())
        self.state.defer(value)

    def _parse_block_body(self, block: Block) -> None:
        """Parses statements up to a label, a closing brace or the end of the source."""
        while True:
            # A statement that does not start a line is never built from a template: looking for one would
            # read the rest of a long line once per statement.
            starts_line = _REST_OF_LINE.match(self.text, self._position) is not None
            uses_cache = starts_line and self.options.uses_statement_cache
            previous = self._parse_cached_lines(block) if uses_cache else -1
            start = self._skip_trivia()
            if self.text[start : start + 1] in ("}", "^", ""):
                # Offsets increase from statement to statement, so they serve as the order.
                block.is_ordered = True
                return
            if previous < 0:
                self._parse_statement(block)
            else:
                self._parse_statement_after(block, previous)

    def _parse_statement_after(self, block: Block, previous: int) -> None:
        """Parses a statement in full after one at offset `previous` that was built from a template.

        If that fails, the previous line may have been only a part of its statement, and is parsed again
        in full.
        """
        start, mark, depth, dialect = self._position, self.scope.mark(), self._depth, self._default_dialect
        try:
            self._parse_statement(block)
        except DiagnosticError:
            del self._labels[depth + 1 :]
            self._labels[-1].discard_uses_from(start)
            self._depth = depth
            self._set_default_dialect(dialect)
            self.scope.release(mark)
            # Templates are used only while no forward reference is pending.
            self.scope.forward.clear()
            self._remove_last_op(block)
            self._position = previous
            self._parse_statement(block)

    # --- Statements ---------------------------------------------------------------------

    def _parse_cached_lines(self, block: Block) -> int:
        """Builds statements from templates, line by line, until a line has none that applies.

        Returns the offset of the last statement built, -1 if there is none. Most of a program is parsed
        here, so the loop makes few calls.
        """
        text, source, scope, record, last = self.text, self.source, self.scope, self.record, -1
        templates, locations = self._templates.by_key, self.state.locations
        values, offsets, position, indent = scope.values, scope.offsets, self._position, ""
        if scope.forward:
            return last
        while True:
            start = position + len(indent)
            if not indent or text[start : start + 1] != "%" or not text.startswith(indent, position):
                trivia = LEADING_TRIVIA.match(text, position)
                assert trivia is not None
                start = trivia.end()
                indent = text[position:start]
            end = text.find("\n", start)
            if end < 0:
                end = len(text)
            if end - start > MAX_TEMPLATE_LENGTH:
                return last
            line, location = text[start:end], None
            if end > start and text[end - 1] == ")":
                line, location_text = split_location(line)
                if location_text:
                    location = locations.get(location_text) or self.state.cached_location(
                        location_text, start + len(line) + 1
                    )
                    if location is None:
                        return last
            parts = NAMES.split(line)
            key = "\n".join(parts[::2])  # as `key_of(parts)`
            statement = templates.get(key)
            if statement is None:
                statement = self._templates.derived(key, start + len(line), self._parse_with_holes)
            if statement is None:
                return last
            template = statement[0]
            if template.is_simple and record is None:
                name = parts[1]
                if name in values:
                    return last
                offset = start + len(name) + template.location_offset
                op = build_simple(statement, parts[3::2], values, source, offset, block)
                if op is None:
                    return last
                values[name] = op.results[0]
                offsets.append(start)
                if location is not None:
                    op._location = location
                    if type(location) is UnresolvedLocation:
                        self.state.defer(op)
            elif not self._build_statement(block, statement, parts, start, location):
                return last
            last, position = start, end
            self._position = end

    def _build_statement(
        self,
        block: Block,
        statement: Statement,
        parts: list[str],
        start: int,
        trailing_location: Location | None,
    ) -> bool:
        """Builds a statement from a template, simple or not; False if the template does not apply."""
        template = statement[0]
        names, count, record = parts[1::2], len(template.groups), self.record
        location: LazyLocation | None = trailing_location
        if location is None or record is not None:
            offset = start + len("".join(parts[: 2 * count])) + template.location_offset
            location = location or (self.source, offset)
        op = build_from_template(statement, names, self.scope.values, location)
        if op is None:
            return False
        if count == 1 and len(op.results) == 1:
            self.scope.values[names[0]] = op.results[0]
            self.scope.offsets.append(start)
        elif count:
            self._define_groups(op, list(zip(names, template.groups, strict=False)), start)
        op.order = start
        block.append(op)
        if trailing_location is not None:
            self.state.defer(op)
        if record is not None:
            record.offsets[op] = offset
            if trailing_location is not None:
                record.locations.add(start + len("".join(parts)) + 1)
        if template.add_implied_regions is not None:
            self._add_implied_regions(op, template.add_implied_regions)
        return True

    def _add_implied_regions(self, op: Op, add_implied_regions: Callable[[Op], None]) -> None:
        """Adds the regions that the assembly implies; everything in them has the operation's location."""
        add_implied_regions(op)
        if self.record is not None:
            self.record.offsets.update(dict.fromkeys(op.walk(), self.record.offsets[op]))
        if type(op._location) is not UnresolvedLocation:
            return
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    self.state.defer(argument)
                for inner in block.ops:
                    self.state.defer(inner)

    def _define_groups(self, op: Op, groups: list[tuple[str, int]], offset: int) -> None:
        position, parser = 0, self._parser()
        for name, size in groups:
            offset = self.text.find(name, offset)
            results = op.results[position : position + size]
            self.scope.define_results(name, results, offset, parser)
            position += size

    def _parse_statement(self, block: Block) -> None:
        """Parses a statement in full, and stores its template if it allows one."""
        start = self._skip_trivia()
        parser = self._parser()
        groups = parse_result_groups(parser)
        self._position = parser.position
        op_parser = self._parse_operation()
        end_of_body = op_parser.position
        location = self.trailing_location(op_parser)
        self._position = op_parser.position
        if op_parser.properties is not None:
            resolve_properties(op_parser)
        op = op_parser.finish(location or (self.source, op_parser.location_offset))
        self._name_results(op, groups, start)
        op.order = start
        block.append(op)
        self.state.defer(op)
        if self.record is not None:
            self.record.offsets[op] = op_parser.location_offset
        if op_parser.add_implied_regions is not None:
            self._add_implied_regions(op, op_parser.add_implied_regions)
        if self.options.uses_statement_cache and _REST_OF_LINE.match(self.text, self._position):
            self._cache_template(op, op_parser, groups, start, end_of_body, location is not None)

    def _cache_template(
        self,
        op: Op,
        op_parser: OpAsmParser,
        groups: list[ResultGroup],
        start: int,
        end_of_body: int,
        has_location: bool,
    ) -> None:
        end = self.text.find("\n", start)
        if end < 0:
            end = len(self.text)
        if end - start > MAX_TEMPLATE_LENGTH:
            return
        line = self.text[start:end]
        body, location_text = split_location(line)
        is_location_split = start + len(body) == end_of_body if has_location else not location_text
        if self._position > start + len(line) or not is_location_split:
            return
        sizes = tuple(group.size for group in groups)
        statement = template_of(
            op,
            body,
            start,
            sizes,
            op_parser.operand_offsets,
            op_parser.location_offset,
            op_parser.add_implied_regions,
        )
        if statement is None:
            return
        self._templates.add(key_of(NAMES.split(body)), statement, start + len(body))

    def _parse_with_holes(self, key: str, holes: Holes) -> Statement | None:
        """Parses the statement with a key and these holes; None if it has no template."""
        source = Source("", statement_of(key))
        parser = _FormParser(source, self.dialects, self.options)
        parser.numbers = holes.numbers
        parser.attribute_parser = self.attribute_parser.with_types(source, holes.types)
        parser.scope = OpenScope(source, self.type_text)
        parser._set_default_dialect(self._default_dialect)
        try:
            parser._parse_statement(Block())
        except (DiagnosticError, HoleInspected):
            return None
        if parser.numbers:
            return None
        return next(iter(parser._templates.by_key.values()), None)

    def _parse_operation(self) -> OpAsmParser:
        """Parses an operation from its name on, without its location."""
        parser = self._parser()
        offset = parser.skip_trivia()
        name = parser.accept_string()
        if name is not None:
            return parse_generic(self, name, offset, parser.position)
        keyword = parser.accept_keyword()
        if keyword is None or _INTEGER_TYPE.fullmatch(keyword):
            parser.position = offset
            raise parser.wrong_token_error("expected operation name in quotes")
        name = keyword if "." in keyword else f"{self._default_dialect}.{keyword}"
        op_class = self.dialects.op_class(name)
        if op_class is None or op_class.assembly is None:
            raise self._unknown_op(keyword, name, parser, offset)
        op_parser = self._op_parser(parser.position, name, op_class, offset)
        op_class.assembly.parse(op_parser)
        op_parser.resolve_operands_and_types()
        return op_parser

    def _op_parser(self, position: int, name: str, op_class: type[Op], offset: int) -> OpAsmParser:
        return OpAsmParser(self, position, name, op_class, offset)

    def _unknown_op(self, keyword: str, name: str, parser: AsmParser, offset: int) -> DiagnosticError:
        namespace, _, mnemonic = name.partition(".")
        dialect = self.dialects.find(namespace)
        tried = f" (tried '{name}' as well)" if name != keyword else ""
        if dialect is None:
            available = ", ".join(self.dialects.names())
            error = parser.error(_NO_DIALECT(dialect=namespace, name=keyword, tried=tried), offset)
            return error.note(
                f"Available dialects: {available}; for more info on dialect registration see "
                "https://mlir.llvm.org/getting_started/Faq/#registered-loaded-dependent-whats-up-with-"
                "dialects-management"
            )
        if mnemonic in dialect.ops:
            return parser.error(f"custom op '{name}' has no custom assembly form", offset)
        return parser.error(_UNKNOWN_OPERATION(name=keyword, tried=tried), offset)

    def _name_results(self, op: Op, groups: list[ResultGroup], start: int) -> None:
        if not groups:
            return
        total = sum(group.size for group in groups)
        parser = self._parser()
        if not op.results:
            raise parser.error("cannot name an operation with no results", start)
        if total != len(op.results):
            raise parser.error(
                f"operation defines {len(op.results)} results but was provided {total} to bind", start
            )
        position = 0
        for name, size, offset in groups:
            results = op.results[position : position + size]
            self.scope.define_results(name, results, offset, parser)
            position += size

    def trailing_location(self, parser: AsmParser) -> LazyLocation | None:
        """Parses the `loc(…)` after a statement or argument if it is next."""
        if not parser.looking_at("loc"):
            return None
        if self.record is not None:
            self.record.locations.add(parser.skip_trivia())
        return self.state.location(parser)

    def _remove_last_op(self, block: Block) -> None:
        """Removes the last operation of a block, which was built from a template."""
        op = block.last
        assert op is not None
        values = self.scope.values
        names = [name for name, value in values.items() if value.defining_op is op]
        self.scope.release(len(values) - len(names))
        for use in op.operand_uses:
            use.unlink()
        block.detach(op)

    # --- Positions ----------------------------------------------------------------------

    def _parser(self) -> AsmParser:
        return AsmParser(self.source, self.attribute_parser, self._position)

    def _skip_trivia(self) -> int:
        match = LEADING_TRIVIA.match(self.text, self._position)
        assert match is not None
        self._position = match.end()
        return self._position

    def _expected_operation(self) -> DiagnosticError:
        return self._parser().wrong_token_error("expected operation name in quotes")


class _FormParser(ModuleParser):
    """Parses a statement with holes. `numbers` has the number holes that have not been parsed."""

    numbers: dict[str, NumberHole]

    def _template_settings(self, dialect: str) -> TemplateSettings | None:
        """None: types have holes."""
        return None

    def _op_parser(self, position: int, name: str, op_class: type[Op], offset: int) -> OpAsmParser:
        op_parser = OpenOpParser(self, position, name, op_class, offset)
        op_parser.numbers = self.numbers
        return op_parser

    def _add_implied_regions(self, op: Op, add_implied_regions: Callable[[Op], None]) -> None:
        """Does nothing: the types in the regions depend on those of the operation."""
