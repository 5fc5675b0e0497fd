"""The func dialect: func, return, call, call_indirect, constant."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.ids import ErrorKind, Message
from sdyopt.base.diagnostics.location import Location
from sdyopt.base.diagnostics.text import counted
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter, Template
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.ir.attribute import (
    EMPTY_DICT,
    ArrayAttr,
    Attribute,
    DictAttr,
    StringAttr,
    SymbolRef,
    TypeAttr,
)
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, region, result, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build, result_named
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import SYM_NAME, SYM_VISIBILITY, FunctionOpInterface, lookup_symbol
from sdyopt.mlir.ir.traits import (
    AFFINE_SCOPE,
    ANY_TYPE,
    CONSTANT_LIKE,
    DICT_ARRAY_ATTR,
    FLAT_SYMBOL_ATTR,
    FUNCTION,
    FUNCTION_TYPE_ATTR,
    ISOLATED,
    PURE,
    STRING_ATTR,
    SYMBOL,
    TERMINATOR,
    UNIT_ATTR,
    TypeConstraint,
)
from sdyopt.mlir.ir.types import FunctionType, Type
from sdyopt.mlir.ir.value import Value

_NO_FUNCTION = ErrorKind("'{name}' does not reference a valid function", at="text {symbol}", explain="symbol")
_UNDEFINED_FUNCTION = ErrorKind(
    "reference to undefined function '{name}'", at="text {symbol}", explain="symbol"
)
_RETURN_TYPE = ErrorKind(
    "type of return operand {number} ('{got}') doesn't match function result type ('{wanted}') in function "
    "@{function}",
    at="result_type {number}",
    help="return a value of type `{wanted}`, or declare the result as `{got}`",
)
_OPERAND_TYPE = ErrorKind(
    "operand type mismatch: expected operand type '{wanted}', but provided '{got}' for operand number "
    "{number}",
    at="operand_type {number}",
    help="the function takes `{wanted}` here",
)
_WRONG_COUNT = ErrorKind(
    "incorrect number of {word} for callee{counts}",
    at="types",
    help="compare with the signature of the callee",
)


def no_function(name: str) -> Message:
    """The message that a symbol is not that of a function."""
    return _NO_FUNCTION(name=name, by="func.func")


_VISIBILITIES = ("public", "private", "nested")
_ELIDED = (SYM_NAME, SYM_VISIBILITY, "function_type", "arg_attrs", "res_attrs")


def parse_function(op_parser: OpAsmParser) -> None:
    """Parses what follows the name of a function operation; raises DiagnosticError."""
    for visibility in _VISIBILITIES:
        if op_parser.accept(visibility):
            op_parser.attributes[SYM_VISIBILITY] = StringAttr(visibility)
            break
    op_parser.attributes[SYM_NAME] = StringAttr(op_parser.symbol())
    inputs: list[Argument] = []
    op_parser.comma_list(lambda: inputs.append(_input(op_parser, inputs)), "(", ")")
    results = _results(op_parser) if op_parser.accept("->") else []
    type = FunctionType(tuple(i.type for i in inputs), tuple(type for type, _ in results))
    op_parser.attributes["function_type"] = TypeAttr(type)
    offset = op_parser.skip_trivia()
    op_parser.attribute_dictionary_with_keyword()
    _check_not_explicit(op_parser, offset)
    _set_dictionaries(op_parser, "arg_attrs", [i.attributes for i in inputs])
    _set_dictionaries(op_parser, "res_attrs", [attributes for _, attributes in results])
    op_parser.operands, op_parser.result_types = [], []
    body_offset = op_parser.skip_trivia()
    if op_parser.looking_at("{"):
        region = op_parser.region(inputs)
        if region.is_empty:
            raise op_parser.error("expected non-empty function body", body_offset)
    else:
        op_parser.regions.append(Region())
    for name in ("arg_attrs", "res_attrs"):
        if name in op_parser.attributes:
            op_parser.check_not_in_dictionary(name)


def _input(op_parser: OpAsmParser, previous: list[Argument]) -> Argument:
    """Parses `%name: type {…} loc(…)`, or `type {…}` in a declaration; the inputs must not mix the two."""
    if op_parser.looking_at_operand():
        argument = op_parser.argument()
        if previous and not previous[-1].name:
            raise op_parser.error("expected type instead of SSA identifier", argument.offset)
        return argument
    offset = op_parser.skip_trivia()
    if previous and previous[-1].name:
        raise op_parser.error("expected SSA identifier", offset)
    type, attributes = op_parser.type(), op_parser.accept_dictionary()
    return Argument("", offset, type, attributes, op_parser.location_or_offset(offset))


def _results(op_parser: OpAsmParser) -> list[tuple[Type, DictAttr | None]]:
    if not op_parser.looking_at("("):
        return [(op_parser.type(), None)]
    return op_parser.comma_list(lambda: (op_parser.type(), op_parser.accept_dictionary()), "(", ")")


def _check_not_explicit(op_parser: OpAsmParser, offset: int) -> None:
    """Rejects the visibility, name and type in `attributes {…}`, because the format parses them elsewhere."""
    for name in (SYM_VISIBILITY, SYM_NAME, "function_type"):
        if name in op_parser.dictionary_attributes:
            raise op_parser.error(
                f"'{name}' is an inferred attribute and should not be specified in the explicit attribute "
                "dictionary",
                offset,
            )


def _set_dictionaries(op_parser: OpAsmParser, name: str, dictionaries: list[DictAttr | None]) -> None:
    if any(dictionaries):
        op_parser.attributes[name] = ArrayAttr(tuple(attributes or EMPTY_DICT for attributes in dictionaries))


def print_function(op, printer: OpAsmPrinter) -> None:  # type: ignore[no-untyped-def]
    """Prints what follows the name of a function operation."""
    visibility = op.signature.attributes.get(SYM_VISIBILITY)
    printer.write(f" {visibility.value} " if visibility is not None else " ")
    printer.write(symbol_text(op.sym_name))
    type = op.function_type
    printer.write("(")
    arguments: list[Value] = [] if op.is_declaration else list(op.entry.arguments)
    for index, attributes in enumerate(op.argument_attributes):
        if index:
            printer.write(", ")
        if arguments:
            printer.argument(arguments[index], attributes)
        else:
            printer.write(printer.type(type.inputs[index]))
            printer.dictionary(attributes)
    printer.write(")")
    if type.results:
        _print_results(type, op.result_attributes, printer)
    printer.attribute_dictionary(op, *_ELIDED, with_keyword=True)
    if not op.is_declaration:
        printer.write(" ")
        printer.region(op.body)


def _print_results(type: FunctionType, dictionaries: list[DictAttr], printer: OpAsmPrinter) -> None:
    printer.write(" -> ")
    is_bare = len(type.results) == 1 and not dictionaries[0] and not isinstance(type.results[0], FunctionType)
    if not is_bare:
        printer.write("(")
    for index, (result_type, attributes) in enumerate(zip(type.results, dictionaries, strict=True)):
        if index:
            printer.write(", ")
        printer.write(printer.type(result_type))
        printer.dictionary(attributes)
    if not is_bare:
        printer.write(")")


func = DIALECT = Dialect("func")
func.is_inlinable = True

_FUNCTION = TypeConstraint[FunctionType]("function type", lambda type: isinstance(type, FunctionType))


@func.op("func", AFFINE_SCOPE, ISOLATED, SYMBOL, FUNCTION)
class FuncOp(FunctionOpInterface):
    """A function: a name, a type, and a body unless it is a declaration.

    The attributes of each argument and each result are stored as a separate dictionary, so that replacing
    one of the dictionaries takes constant time.
    """

    __slots__ = ("_explicit_lists", "argument_attributes", "result_attributes")

    sym_name = attr(STRING_ATTR)
    function_type = attr(FUNCTION_TYPE_ATTR)
    sym_visibility = optional_attr(STRING_ATTR)
    arg_attrs = optional_attr(DICT_ARRAY_ATTR)
    res_attrs = optional_attr(DICT_ARRAY_ATTR)
    no_inline = optional_attr(UNIT_ATTR)
    body = region()

    default_dialect = "func"
    mutable_attributes = ("arg_attrs", "res_attrs")
    assembly = assembly(
        "custom<function>($sym_name, $function_type, $sym_visibility, $arg_attrs, $res_attrs)",
        function=custom(parse_function, print=print_function),
    )

    argument_attributes: list[DictAttr]
    result_attributes: list[DictAttr]

    def set_up(self) -> None:
        # Which of `arg_attrs` and `res_attrs` are present even if all their dictionaries are empty.
        self._explicit_lists: set[str] = set()
        self.set_mutable_attribute("arg_attrs", None)
        self.set_mutable_attribute("res_attrs", None)

    def mutable_attribute(self, name: str) -> ArrayAttr | None:
        dictionaries = self.argument_attributes if name == "arg_attrs" else self.result_attributes
        return ArrayAttr(tuple(dictionaries)) if any(dictionaries) or name in self._explicit_lists else None

    def set_mutable_attribute(self, name: str, value: Attribute | None) -> None:
        self._explicit_lists.discard(name)
        if isinstance(value, ArrayAttr):
            dictionaries = [element for element in value.elements if isinstance(element, DictAttr)]
            self._explicit_lists.add(name)
        else:
            # The attribute may still be missing or of another kind: it is verified later.
            type: Type | None = self.function_type
            dictionaries = []
            if isinstance(type, FunctionType):
                dictionaries = [EMPTY_DICT] * len(type.inputs if name == "arg_attrs" else type.results)
        if name == "arg_attrs":
            self.argument_attributes = dictionaries
        else:
            self.result_attributes = dictionaries

    def set_attributes_at(self, name: str, index: int, attributes: DictAttr) -> None:
        """Replaces the attributes of the argument (`arg_attrs`) or result at an index, for the rewriter."""
        dictionaries = self.argument_attributes if name == "arg_attrs" else self.result_attributes
        dictionaries[index] = attributes
        self._explicit_lists.discard(name)

    @property
    def is_declaration(self) -> bool:
        return self.body.is_empty

    @property
    def entry(self) -> Block:
        """The entry block; a declaration has none."""
        return self.body.blocks[0]

    def verify_in_context(self) -> None:
        if self.is_declaration:
            return
        type, arguments = self.function_type, self.entry.arguments
        if len(arguments) != len(type.inputs):
            raise self.op_error(
                f"entry block must have {len(type.inputs)} arguments to match function signature"
            )
        for index, (argument, expected) in enumerate(zip(arguments, type.inputs, strict=True)):
            if argument.type is not expected:
                raise self.op_error(
                    f"type of entry block argument #{index}({_quoted(argument.type)}) must match the type of "
                    f"the corresponding argument in function signature({_quoted(expected)})"
                )


@func.op("return", PURE, TERMINATOR)
class ReturnOp(Op):
    """Terminates a function and returns its results."""

    values = operands(ANY_TYPE)

    assembly = assembly("attr-dict ($values^ `:` type($values))?")

    def verify_in_context(self) -> None:
        function = self.parent_op
        if not isinstance(function, FuncOp):
            error = self.op_error("expects parent op 'func.func'")
            raise error.help("move the operation directly into `func.func`")
        expected = function.function_type.results
        got = self.signature.operand_types
        if len(got) != len(expected):
            error = self.op_error(
                f"has {len(got)} operands, but enclosing function (@{function.sym_name}) returns "
                f"{len(expected)}"
            )
            values, results = counted(len(expected), "value"), counted(len(got), "result")
            raise error.help(f"return {values}, or declare {results} of the function")
        for index, (type, result_type) in enumerate(zip(got, expected, strict=True)):
            if type is not result_type:
                got_text, wanted = plain_type(type), plain_type(result_type)
                raise self.error(
                    _RETURN_TYPE(number=index, got=got_text, wanted=wanted, function=function.sym_name)
                )


@func.op("call")
class CallOp(Op):
    """Calls a function by name."""

    callee = attr(FLAT_SYMBOL_ATTR)
    inputs = operands(ANY_TYPE)
    outputs = results(ANY_TYPE)
    arg_attrs = optional_attr(DICT_ARRAY_ATTR)
    res_attrs = optional_attr(DICT_ARRAY_ATTR)
    no_inline = optional_attr(UNIT_ATTR)

    assembly = assembly("$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)")

    def verify_symbol_uses(self) -> None:
        function = lookup_symbol(self, self.callee)
        if not isinstance(function, FuncOp):
            raise self.op_error(no_function(self.callee))
        type = function.function_type
        self._check_operands(type.inputs)
        self._check_results(type.results)

    def _check_operands(self, expected: Sequence[Type]) -> None:
        if len(expected) != len(self.signature.operand_types):
            raise self.op_error(
                _WRONG_COUNT(word="operands", counts=_counts(expected, self.signature.operand_types))
            )
        for index, (expected_type, type) in enumerate(
            zip(expected, self.signature.operand_types, strict=True)
        ):
            if expected_type is not type:
                wanted, got_text = plain_type(expected_type), plain_type(type)
                raise self.op_error(_OPERAND_TYPE(wanted=wanted, got=got_text, number=index))

    def _check_results(self, expected: Sequence[Type]) -> None:
        if len(expected) != len(self.signature.result_types):
            raise self.op_error(
                _WRONG_COUNT(word="results", counts=_counts(expected, self.signature.result_types))
            )
        for index, (expected_type, type) in enumerate(
            zip(expected, self.signature.result_types, strict=True)
        ):
            if expected_type is not type:
                raise (
                    self.op_error(f"result type mismatch at index {index}")
                    .note(f"      op result types: {_quoted_list(self.signature.result_types)}")
                    .note(f"function result types: {_quoted_list(expected)}")
                )


def _counts(expected: Sequence[Type], got: Sequence[Type]) -> str:
    has_counts = Behavior.COUNTS_IN_CALL_ERRORS.active
    return f": expected {len(expected)}, but got {len(got)}" if has_counts else ""


@func.op("call_indirect")
class CallIndirectOp(Op):
    """Calls a function value."""

    callee = operand(_FUNCTION)
    inputs = operands(ANY_TYPE)
    outputs = results(ANY_TYPE)
    arg_attrs = optional_attr(DICT_ARRAY_ATTR)
    res_attrs = optional_attr(DICT_ARRAY_ATTR)

    def _call_directly(self, rewriter: Rewriter) -> bool:
        """Replaces an indirect call of a constant with a direct call."""
        callee = constant_value(self.callee.defining_op)
        if not isinstance(callee, SymbolRef):
            return False
        types = self.signature.result_types
        attributes = {"callee": callee}
        call = rewriter.create(CallOp, self.inputs, types, attributes, before=self, location=self.location)
        rewriter.replace(self, call)
        return True

    canonicalizations = (Pattern(_call_directly),)

    @staticmethod
    def _parse_callee_type(op_parser: OpAsmParser) -> None:
        """Parses the type of the callee, which gives the operand and result types."""
        type = op_parser.function_type()
        op_parser.types = {"callee": [type], "inputs": list(type.inputs), "outputs": list(type.results)}

    @staticmethod
    def _write_callee_type(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.operand_types[:1])

    assembly = assembly(
        "$callee `(` $inputs `)` attr-dict `:` custom<callee_type>",
        callee_type=custom(_parse_callee_type, _write_callee_type),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        type = signature[CallIndirectOp.callee]
        if type.inputs != signature[CallIndirectOp.inputs]:
            raise signature.op_error("failed to verify that callee input types match argument types")
        if type.results != signature[CallIndirectOp.outputs]:
            raise signature.op_error("failed to verify that callee result types match result types")


@func.op("constant", CONSTANT_LIKE, PURE)
class ConstantOp(Op):
    """A reference to a function, as a value."""

    value = attr(FLAT_SYMBOL_ATTR)
    out = result(ANY_TYPE)

    assembly = assembly("attr-dict $value `:` type($out)")

    name_results = result_named("f")

    def verify_symbol_uses(self) -> None:
        function = lookup_symbol(self, self.value)
        if not isinstance(function, FuncOp):
            raise self.op_error(_UNDEFINED_FUNCTION(name=self.value, by="func.func"))
        if function.function_type is not self.signature.result_types[0]:
            raise self.op_error("reference to function with mismatched type")


def _materialize(value: Attribute, type: Type, location: Location) -> Op | None:
    """A reference to a function, the only constant of this dialect."""
    if not isinstance(value, SymbolRef) or not isinstance(type, FunctionType):
        return None
    attributes = DictAttr((("value", value),))
    return build(OpSignature(ConstantOp, ConstantOp.name, attributes, (), (type,)), (), location=location)


func.materialize_constant = _materialize


def _quoted(type: Type) -> str:
    return f"'{plain_type(type)}'"


def _quoted_list(types: Sequence[Type]) -> str:
    return ", ".join(_quoted(type) for type in types)
