"""The parser of one operation.

The elements of an assembly format store what they parse in it, and `finish` builds the operation.
Operands and types are stored per declared field, so that their order in the text does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import SSA_ID, SUFFIX_ID, TRIVIA
from sdyopt.mlir.asm.parser.asm_parser import AsmParser, AttributeTextParser
from sdyopt.mlir.asm.parser.ssa_scope import Scope, with_definitions
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, DictAttr, dictionary
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.dialect import DialectTable, complete_attributes, inherent_names
from sdyopt.mlir.ir.op_fields import (
    ONE,
    OPERAND_SEGMENTS,
    RESULT_SEGMENTS,
    declared_fields,
)
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, ATTR_SIZED_RESULTS
from sdyopt.mlir.ir.types import I32, FunctionType, Type
from sdyopt.mlir.ir.value import LazyLocation, Value
from sdyopt.mlir.ir.verify_signature import attribute_problem

NO_FUNCTION_TYPE = ErrorKind(
    "invalid kind of type specified: expected builtin.function, but found '{type}'",
    help="write a function type: `(types of operands) -> types of results`",
)

_SSA_ID = constant_pattern(f"{TRIVIA}({SSA_ID})")
_PLAIN_ARGUMENT = constant_pattern(rf"{TRIVIA}({SSA_ID}): (tensor<[\w?]*+>)(?=[,) ])", re.ASCII)
_RESULT_NUMBER = constant_pattern(f"{TRIVIA}#({SUFFIX_ID})")
_LARGEST_RESULT_NUMBER = (1 << 32) - 1


class OperandName(NamedTuple):
    """`%name` or `%name#k`, and its offset."""

    name: str
    offset: int


class Argument(NamedTuple):
    """A region argument: `%arg0: tensor<4xf32> {…} loc(…)`."""

    name: str
    offset: int
    type: Type
    attributes: DictAttr | None
    location: LazyLocation


class RegionParser(Protocol):
    """The parser of the enclosing region.

    It has the scope of SSA names, and parses what depends on more than the operation: nested regions, block
    labels and location aliases.
    """

    @property
    def source(self) -> Source: ...
    @property
    def attribute_parser(self) -> AttributeTextParser: ...
    @property
    def dialects(self) -> DialectTable: ...
    @property
    def allows_unregistered(self) -> bool: ...
    @property
    def scope(self) -> Scope: ...

    def type_text(self, type: Type) -> str: ...
    def successor(self, parser: AsmParser) -> Block: ...
    def trailing_location(self, parser: AsmParser) -> LazyLocation | None: ...
    def region(self, op_parser: OpAsmParser, arguments: Sequence[Argument] | None) -> Region: ...


class OpAsmParser(AsmParser):
    """Parses an operation and stores its parts.

    - `operand_names`: operand names by field; `operand_group_offsets`: the offset of each field's operands.
    - `types`: types of operands and results by field.
    - `attributes`: the attributes from format elements by name.
    - `dictionary_attributes`: the attributes from the attribute dictionary by name.
    - `operands`, `result_types`: None until they are resolved, which some formats do themselves.
    - `operand_offsets`: the offset of each resolved operand.
    - `operand_count_offset`: the offset of errors about the number of operands.
    - `properties`: the attribute in `<…>`, which is resolved last.
    - `location_offset`: the offset of the operation's location.
    - `add_implied_regions`: adds the regions that the assembly implies to the operation, from which it reads
      the types: it is also called for operations with other types.
    - `is_generic`: whether the operation is in generic form, in which errors do not start with its name.
    """

    __slots__ = (
        "add_implied_regions",
        "attributes",
        "dictionary_attributes",
        "is_generic",
        "location_offset",
        "name",
        "offset",
        "op_class",
        "operand_count_offset",
        "operand_group_offsets",
        "operand_names",
        "operand_offsets",
        "operands",
        "properties",
        "region_parser",
        "regions",
        "result_types",
        "successors",
        "types",
    )

    def __init__(
        self, region_parser: RegionParser, position: int, name: str, op_class: type[Op], offset: int
    ) -> None:
        super().__init__(region_parser.source, region_parser.attribute_parser, position)
        self.region_parser = region_parser
        self.name = name
        self.op_class = op_class
        self.offset = offset
        self.attributes: dict[str, Attribute] = {}
        self.dictionary_attributes: dict[str, Attribute] = {}
        self.operand_names: dict[str, list[OperandName]] = {}
        self.operand_group_offsets: dict[str, int] = {}
        self.types: dict[str, list[Type]] = {}
        self.operands: list[Value] | None = None
        self.operand_offsets: list[int] = []
        self.operand_count_offset = offset
        self.result_types: list[Type] | None = None
        self.regions: list[Region] = []
        self.successors: list[Block] = []
        self.properties: Attribute | None = None
        self.is_generic = False
        self.location_offset = offset
        self.add_implied_regions: Callable[[Op], None] | None = None

    # --- Operands -------------------------------------------------------------------

    def accept_operand(self) -> OperandName | None:
        """Parses `%name` or `%name#k` if it is next."""
        match = _SSA_ID.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        following = self.skip_trivia()
        name = match[1]
        if self.text.startswith("#", following) and not self.text.startswith("#-}", following):
            name += self._result_number()
        return OperandName(name, match.start(1))

    def _result_number(self) -> str:
        """Parses `#k` and returns it without leading zeros; empty for the first result."""
        match = _RESULT_NUMBER.match(self.text, self.position)
        if match is None or not match[1].isdigit() or int(match[1][:20]) > _LARGEST_RESULT_NUMBER:
            raise self.unprefixed_error("invalid SSA value result number")
        self.position = match.end()
        number = int(match[1])
        return f"#{number}" if number else ""

    def operand(self) -> OperandName:
        """Parses an operand, or raises "expected SSA operand"."""
        operand = self.accept_operand()
        if operand is None:
            raise self.wrong_token_error("expected SSA operand")
        return operand

    def operand_list(self) -> list[OperandName]:
        """Parses `%a, %b, …`, possibly none."""
        return self.comma_list(self.operand) if self.looking_at_operand() else []

    def looking_at_operand(self) -> bool:
        return _SSA_ID.match(self.text, self.position) is not None

    def resolve(self, operand: OperandName, type: Type) -> Value:
        """The value of a name, which must have this type; it may be defined later."""
        self.operand_offsets.append(operand.offset)
        return self.region_parser.scope.use(operand.name, operand.offset, type, self)

    def resolve_all(self, operands: Sequence[OperandName], types: Sequence[Type], offset: int) -> list[Value]:
        """The values of operands; raises an error at `offset` unless there are as many types as operands."""
        self.check_operand_count(operands, types, offset)
        return [self.resolve(operand, type) for operand, type in zip(operands, types, strict=True)]

    def check_operand_count(self, operands: Sequence[object], types: Sequence[object], offset: int) -> None:
        """Raises an error at `offset` unless there are as many types as operands."""
        if len(operands) != len(types):
            error = self.error(
                f"number of operands and types do not match: got {len(operands)} operands and "
                f"{len(types)} types",
                offset,
            )
            raise error.help(f"write one type for each operand: {len(operands)}")

    # --- Attributes, regions ----------------------------------------------------------

    def attribute_dictionary(self) -> DictAttr:
        """Parses `{…}` if it is next. Its attributes take precedence over those from format elements."""
        attributes = self.accept_dictionary() or EMPTY_DICT
        self.dictionary_attributes.update(attributes.entries)
        return attributes

    def check_not_in_dictionary(self, name: str) -> None:
        """Raises an error if the dictionary has this attribute, which the format parses elsewhere."""
        if name in self.dictionary_attributes:
            message = f"attribute '{name}' occurs more than once in the attribute list"
            raise self.error(message, self.offset)

    def attribute_dictionary_with_keyword(self) -> DictAttr:
        """Parses `attributes {…}` if the keyword is next."""
        if not self.accept("attributes"):
            return EMPTY_DICT
        self.skip_trivia()
        if not self.looking_at("{"):
            raise self.wrong_token_error("expected '{' in attribute dictionary")
        return self.attribute_dictionary()

    def check_attributes(self, attributes: DictAttr, offset: int) -> None:
        """Raises an error if an inherent attribute violates its constraint: MLIR's parser checks it, too."""
        problem = attribute_problem(self.op_class, attributes) if attributes.entries else None
        if problem is not None:
            raise self.error(f"'{self.name}' op " + problem, offset)

    def argument_name(self) -> OperandName:
        """Parses `%name`, which must not have a result number."""
        match = _SSA_ID.match(self.text, self.position)
        if match is None:
            raise self.wrong_token_error("expected SSA operand")
        self.position = match.end()
        if self.text.startswith("#", self.skip_trivia()):
            raise self.unprefixed_error("result number not allowed in argument list")
        return OperandName(match[1], match.start(1))

    def block_argument(self) -> Argument:
        """Parses `%name: type loc(…)` in a block label."""
        name, offset = self.operand()
        self.expect(":", " and type for SSA operand")
        return Argument(name, offset, self.type(), None, self.location_or_offset(offset))

    def argument(self) -> Argument:
        """Parses `%name: type {attributes} loc(…)`."""
        plain = _PLAIN_ARGUMENT.match(self.text, self.position)
        if plain is not None and (plain_type := self.attribute_parser.plain_type(plain[2])) is not None:
            self.position = plain.end()
            attributes = self.accept_dictionary() if self.text[self.position] == " " else None
            offset = plain.start(1)
            is_last = self.text[self.position : self.position + 1] in (",", ")")
            location = (self.source, offset) if is_last else self.location_or_offset(offset)
            return Argument(plain[1], offset, plain_type, attributes, location)
        name, offset = self.argument_name()
        self.expect(":")
        type = self.type()
        attributes = self.accept_dictionary()
        return Argument(name, offset, type, attributes, self.location_or_offset(offset))

    def location_or_offset(self, offset: int) -> LazyLocation:
        """Parses `loc(…)` if it is next; otherwise returns the location of an offset."""
        return self.region_parser.trailing_location(self) or (self.source, offset)

    def function_type(self) -> FunctionType:
        """Parses a function type."""
        offset = self.skip_trivia()
        type = self.type()
        if not isinstance(type, FunctionType):
            raise self.error(NO_FUNCTION_TYPE(type=self.type_text(type)), offset)
        return type

    def region(self, arguments: Sequence[Argument] | None = None) -> Region:
        """Parses `{ … }`; `arguments` are those of the entry block."""
        region = self.region_parser.region(self, arguments)
        self.regions.append(region)
        return region

    def ensure_terminator(self, region: Region, op_class: type[Op]) -> None:
        """Appends the terminator without operands that the text omits from a region."""
        block = region.blocks[0] if region.blocks else region.add_block()
        if block.last is None or not block.last.is_terminator:
            attributes = complete_attributes(op_class, EMPTY_DICT)
            signature = OpSignature(op_class, op_class.name, attributes, (), ())
            block.append(build(signature, (), EMPTY_DICT, (self.source, self.offset)))

    def successor(self) -> Block:
        """Parses `^label`, a block of the enclosing region, which may be defined later, and adds it."""
        block = self.region_parser.successor(self)
        self.successors.append(block)
        return block

    @property
    def dialects(self) -> DialectTable:
        return self.region_parser.dialects

    def type_text(self, type: Type) -> str:
        """The text of a type, for error messages."""
        return self.region_parser.type_text(type)

    # --- The operation ------------------------------------------------------------------

    def resolve_operands_and_types(self) -> None:
        """Resolves the operands, and the result types from the text or by inference.

        The format may have resolved either.
        """
        if self.operands is None:
            self.operands = self._resolve_fields()
        if self.result_types is None:
            self.result_types = self._result_types(self.operands)

    def finish(self, location: LazyLocation) -> Op:
        """Builds the operation, whose operands and result types must have been resolved."""
        assert self.operands is not None and self.result_types is not None
        if self.regions:
            # A region may define a name that is also an operand, which the verifier rejects.
            self.operands = with_definitions(self.operands)
        signature = self._signature(self.operands, self.result_types)
        inherent, mutable = inherent_names(self.op_class), self.op_class.mutable_attributes
        discardable = dictionary({n: a for n, a in self.dictionary_attributes.items() if n not in inherent})
        op = build(signature, self.operands, discardable, location, tuple(self.regions), self.successors)
        if mutable:
            attributes = self._inherent_attributes()
            for name in mutable:
                op.set_mutable_attribute(name, attributes.get(name))
        return op

    def _inherent_attributes(self) -> dict[str, Attribute]:
        """The inherent attributes. One in the dictionary with another storage class counts as missing."""
        attributes = dict(self.attributes)
        names = inherent_names(self.op_class) & self.dictionary_attributes.keys()
        if not names:
            return attributes
        kinds = {field.name: field.constraint for field in declared_fields(self.op_class).attributes}
        for name in names:
            attributes.pop(name, None)
            if name not in kinds or kinds[name].has_storage_class(self.dictionary_attributes[name]):
                attributes[name] = self.dictionary_attributes[name]
        return attributes

    def _resolve_fields(self) -> list[Value]:
        values: list[Value] = []
        sizes = []
        for field in declared_fields(self.op_class).operands:
            names = self.operand_names.get(field.field_name, [])
            types = self.types.get(field.field_name, [])
            values += self.resolve_all(
                names, types, self.operand_group_offsets.get(field.field_name, self.offset)
            )
            sizes.append(len(names))
        if ATTR_SIZED_OPERANDS in self.op_class.traits:
            self.attributes.setdefault(OPERAND_SEGMENTS, segments(sizes))
        return values

    def _result_types(self, operands: Sequence[Value]) -> list[Type]:
        op_class = self.op_class
        declared = declared_fields(op_class).results
        if any(field.field_name in self.types for field in declared):
            return self._declared_result_types()
        if op_class.infer_result_types is None:
            only = [field.constraint.only for field in declared if field.arity == ONE]
            return [type for type in only if type is not None]
        return self._infer(self._signature(operands, ()))

    def _signature(self, operands: Sequence[Value], result_types: Sequence[Type]) -> OpSignature:
        mutable = self.op_class.mutable_attributes
        inherent = {n: a for n, a in self._inherent_attributes().items() if n not in mutable}
        attributes = complete_attributes(self.op_class, dictionary(inherent))
        operand_types = tuple([value.type for value in operands])
        return OpSignature(self.op_class, self.name, attributes, operand_types, tuple(result_types))

    def _declared_result_types(self) -> list[Type]:
        types: list[Type] = []
        sizes = []
        for field in declared_fields(self.op_class).results:
            field_types = self.types.get(field.field_name, [])
            types += field_types
            sizes.append(len(field_types))
        if ATTR_SIZED_RESULTS in self.op_class.traits:
            self.attributes.setdefault(RESULT_SEGMENTS, segments(sizes))
        return types

    def _infer(self, signature: OpSignature) -> list[Type]:
        infer = self.op_class.infer_result_types
        assert infer is not None
        try:
            return list(infer(signature, self.regions))
        except SignatureError as problem:
            raise self.signature_error(problem) from None

    def error(self, message: str, offset: int | None = None) -> DiagnosticError:
        """An error in this operation; in custom assembly it starts with the operation's name."""
        prefix = "" if self.is_generic else f"custom op '{self.name}' "
        return self.unprefixed_error(prefix + message, offset)

    def error_at_operation(self, message: str) -> DiagnosticError:
        """An error at the operation's name, which is reported even if the next token is invalid."""
        return DiagnosticError.at(self.source.location(self.offset), message)

    def signature_error(self, problem: SignatureError) -> DiagnosticError:
        """The error of an invalid signature, at this operation's name."""
        prefix = f"'{self.name}' op " if problem.prefixed else ""
        error = self.error_at_operation(prefix + problem.message)
        for note in problem.notes:
            error.note(note)
        error.diagnostic.followers = [
            self.signature_error(follower).diagnostic for follower in problem.followers
        ]
        return error


def segments(sizes: Sequence[int]) -> DenseArray:
    """The segment sizes of operand (or result) groups."""
    return DenseArray(I32, tuple(sizes))
