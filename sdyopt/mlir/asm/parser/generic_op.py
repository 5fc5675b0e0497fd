"""The generic form: `"name"(%operands)[^successors] <{properties}> ({regions}) {attributes} : type`."""

from __future__ import annotations

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.lexical import PROPERTIES
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser, OperandName, RegionParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, dictionary
from sdyopt.mlir.ir.dialect import inherent_names
from sdyopt.mlir.ir.op_fields import OPERAND_SEGMENTS, RESULT_SEGMENTS, AttrField
from sdyopt.mlir.ir.operation import UnregisteredOp
from sdyopt.mlir.ir.types import FunctionType
from sdyopt.mlir.ir.verify import unknown_operation

_UNREGISTERED_DIALECT = ErrorKind(
    "operation being parsed with an unregistered dialect. If this is intended, please use "
    "-allow-unregistered-dialect with the MLIR tool used",
    explain="unregistered dialect",
)
_TYPE_COUNT = ErrorKind(
    "expected {count} operand type{s} but had {got}",
    help="write one type for each operand: `(type, type) -> type`",
)


def parse_generic(region_parser: RegionParser, name: str, offset: int, position: int) -> OpAsmParser:
    """Parses an operation in generic form after its quoted name; raises DiagnosticError."""
    op_class = region_parser.dialects.op_class(name) or UnregisteredOp
    op_parser = OpAsmParser(region_parser, position, name, op_class, offset)
    op_parser.is_generic = True
    if not name:
        raise op_parser.error("empty operation name is invalid", offset)
    if "\0" in name:
        raise op_parser.error("null character not allowed in operation name", offset)
    if op_class is UnregisteredOp:
        _check_unregistered(op_parser)
    op_parser.expect("(", " to start operand list")
    names = op_parser.operand_list()
    op_parser.expect(")", " to end operand list")
    _successors(op_parser)
    parse_properties(op_parser)
    if op_parser.accept("("):
        op_parser.region()
        while op_parser.accept(","):
            op_parser.region()
        op_parser.expect(")", " to end region list")
    attributes = with_new_names(op_parser.attribute_dictionary())
    if _OLD_NAMES.keys() & op_parser.dictionary_attributes.keys():
        op_parser.dictionary_attributes = dict(attributes.entries)
    _function_type(op_parser, names)
    if op_parser.properties is None:
        op_parser.check_attributes(attributes, offset)
    return op_parser


_OLD_NAMES = {"operand_segment_sizes": OPERAND_SEGMENTS, "result_segment_sizes": RESULT_SEGMENTS}


def with_new_names(attributes: DictAttr) -> DictAttr:
    """The attributes with the segment sizes under the names that they have since LLVM 17."""
    if not any(name in _OLD_NAMES for name, _ in attributes.entries):
        return attributes
    return dictionary({_OLD_NAMES.get(name, name): value for name, value in attributes.entries})


def _check_unregistered(op_parser: OpAsmParser) -> None:
    if op_parser.region_parser.allows_unregistered:
        return
    dialect = op_parser.dialects.find(op_parser.name.partition(".")[0])
    # The verifier rejects unknown operations of dialects that are not partial.
    if dialect is not None and dialect.is_partial:
        raise op_parser.error(unknown_operation(op_parser.name), op_parser.offset)
    if dialect is None:
        raise op_parser.error(_UNREGISTERED_DIALECT())


def _successors(op_parser: OpAsmParser) -> None:
    """Parses `[^bb1, ^bb2]` if it is next."""
    if not op_parser.looking_at("["):
        return
    op_class = op_parser.op_class
    if not op_class.is_terminator and op_class is not UnregisteredOp:
        raise op_parser.error("successors in non-terminator")
    op_parser.expect("[")
    if op_parser.looking_at("]"):
        raise op_parser.wrong_token_error("expected list element")
    op_parser.comma_list(op_parser.successor)
    if not op_parser.accept("]"):
        raise op_parser.wrong_token_error("expected ',' or ']'")


def parse_properties(op_parser: OpAsmParser) -> bool:
    """Parses `<{…}>` if it is next; returns whether it was."""
    if not op_parser.accept("<"):
        return False
    properties = op_parser.attribute()
    op_parser.properties = with_new_names(properties) if isinstance(properties, DictAttr) else properties
    op_parser.expect(">", " to close properties")
    return True


def resolve_properties(op_parser: OpAsmParser) -> None:
    """Sets inherent attributes from the properties, after the whole operation has been parsed.

    Properties take precedence over the attribute dictionary. Raises an error if they are no dictionary, if
    the class has no inherent attributes, or if a property does not have the declared storage class.
    """
    properties, op_class = op_parser.properties, op_parser.op_class
    assert properties is not None
    if op_class is UnregisteredOp:
        op_parser.attributes[PROPERTIES] = properties
        return
    inherent = inherent_names(op_class)
    if not inherent:
        raise _invalid_properties(op_parser, properties, "this operation has empty properties")
    if not isinstance(properties, DictAttr):
        raise _invalid_properties(op_parser, properties, "expected DictionaryAttr to set properties")
    for field in op_class.fields.values():
        if not isinstance(field, AttrField):
            continue
        value = properties.get(field.name)
        if value is not None and not field.constraint.has_storage_class(value):
            problem = f"Invalid attribute `{field.name}` in property conversion: {plain_attribute(value)}"
            raise _invalid_properties(op_parser, properties, problem)
    for name, value in properties.entries:
        if name in inherent:
            op_parser.attributes[name] = value
            op_parser.dictionary_attributes.pop(name, None)


def _invalid_properties(op_parser: OpAsmParser, properties: Attribute, problem: str) -> DiagnosticError:
    return op_parser.error_at_operation(
        f"invalid properties {plain_attribute(properties)} for op {op_parser.name}: " + problem
    )


def _function_type(op_parser: OpAsmParser, names: list[OperandName]) -> None:
    """Parses `: (operand types) -> result types` and resolves the operands."""
    op_parser.expect(":", " followed by operation type")
    offset = op_parser.skip_trivia()
    type = op_parser.type()
    if not isinstance(type, FunctionType):
        raise op_parser.error_and_lexical_error("expected function type", offset)
    if len(type.inputs) != len(names):
        # For the singular, MLIR prints the terminating null byte of its string "s".
        s = "\0" if len(names) == 1 else "s"
        raise op_parser.error_and_lexical_error(
            _TYPE_COUNT(count=len(names), s=s, got=len(type.inputs)), offset
        )
    op_parser.operands = [
        op_parser.resolve(name, operand_type) for name, operand_type in zip(names, type.inputs, strict=True)
    ]
    op_parser.result_types = list(type.results)
