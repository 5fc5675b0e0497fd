"""Makes dialects of the definitions of a module: their operations have generic syntax and no code.

A constraint that several operands, results, attributes or parameters have is a variable: all must be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, handling
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.diagnostics.location import Location, Source
from sdyopt.base.diagnostics.text import native_path
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.diagnostics.whole_files import read_settings_file
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter, plain_attribute, plain_type
from sdyopt.mlir.dialects.irdl import constraints as irdl
from sdyopt.mlir.dialects.irdl.definitions import (
    OPTIONAL,
    SINGLE,
    AttributesOp,
    Definition,
    DialectOp,
    OperandsOp,
    OperationOp,
    ParametersOp,
    RegionsOp,
    ResultsOp,
    TypeOp,
    Variadicities,
)
from sdyopt.mlir.dialects.irdl.definitions import AttributeOp as AttributeDefinition
from sdyopt.mlir.ir import types
from sdyopt.mlir.ir.attribute import (
    ArrayAttr,
    Attribute,
    DictAttr,
    StringAttr,
    SymbolRef,
    Type,
    TypeAttr,
    UnitAttr,
)
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements, FloatAttr, IntegerAttr
from sdyopt.mlir.ir.dialect import Dialect, DialectTable
from sdyopt.mlir.ir.op_fields import operands, regions, results
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import ANY_TYPE
from sdyopt.mlir.ir.types import I32
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.ir.verify import Verifier

# The names of the builtin types and attributes in C++.
_BUILTIN: dict[type[Attribute], str] = {
    types.IntegerType: "integer",
    types.IndexType: "index",
    types.RankedTensor: "tensor",
    types.UnrankedTensor: "unranked_tensor",
    types.VectorType: "vector",
    types.MemRefType: "memref",
    types.UnrankedMemRef: "unranked_memref",
    types.ComplexType: "complex",
    types.FunctionType: "function",
    types.TupleType: "tuple",
    types.NoneType: "none",
    TypeAttr: "type",
    IntegerAttr: "integer",
    FloatAttr: "float",
    StringAttr: "string",
    ArrayAttr: "array",
    DictAttr: "dictionary",
    UnitAttr: "unit",
    SymbolRef: "symbol_ref",
    DenseArray: "dense_array",
    DenseElements: "dense_intorfp_elements",
}


class Parametric(Attribute):
    """Base of the attributes and types that files define: `#name<parameter, …>`."""

    parameters: tuple[Attribute, ...]

    mnemonic: ClassVar[str]


class ParametricType(Type):
    """Base of the types that files define: `!name<parameter, …>`."""

    parameters: tuple[Attribute, ...]

    mnemonic: ClassVar[str]


# An attribute, or the type in a TypeAttr.
def _content(attribute: Attribute) -> Attribute:
    return attribute.type if isinstance(attribute, TypeAttr) else attribute


def _name_of(attribute: Attribute) -> str:
    """The name of an attribute or type in C++, such as `builtin.integer`."""
    if (name := _BUILTIN.get(type(attribute))) is not None:
        return f"builtin.{name}"
    if isinstance(attribute, Parametric | ParametricType):
        return f"{attribute.dialect}.{attribute.mnemonic}"
    text = plain_type(attribute) if isinstance(attribute, Type) else plain_attribute(attribute)
    if not text.startswith(("!", "#")):
        return f"builtin.{text}"
    return text[1:].partition("<")[0]


class Variables:
    """Checks attributes against the constraints of a definition, whose variables it binds."""

    def __init__(self, constraints: dict[Value, Op], bases: dict[Op, type[Attribute]]) -> None:
        self._constraints = constraints
        self._bases = bases
        self._bound: dict[Value, Attribute] = {}
        # What does not satisfy a variable never will, as variables stay bound.
        self._problems: dict[tuple[Value, Attribute], str] = {}

    @classmethod
    def of(cls, definition: Definition, bases: dict[Op, type[Attribute]]) -> Variables:
        constraints: dict[Value, Op] = {
            result: op for op in definition.body.blocks[0].ops for result in op.results
        }
        return cls(constraints, bases)

    def problem(self, attribute: Attribute, variable: Value) -> str | None:
        """Why an attribute does not satisfy a constraint; None if it does."""
        bound = self._bound.get(variable)
        if bound is not None:
            if bound is attribute:
                return None
            return f"expected '{plain_attribute(bound)}' but got '{plain_attribute(attribute)}'"
        problem = self._problems.get((variable, attribute))
        if problem is None:
            problem = self._check(attribute, self._constraints[variable])
            if problem is None:
                self._bound[variable] = attribute
            else:
                self._problems[variable, attribute] = problem
        return problem

    def _check(self, attribute: Attribute, constraint: Op) -> str | None:
        if isinstance(constraint, irdl.IsOp):
            expected = constraint.expected
            if attribute is expected:
                return None
            return f"expected '{plain_attribute(expected)}' but got '{plain_attribute(attribute)}'"
        if isinstance(constraint, irdl.AnyOfOp):
            if any(self.problem(attribute, variable) is None for variable in constraint.args):
                return None
            return f"'{plain_attribute(attribute)}' does not satisfy the constraint"
        if isinstance(constraint, irdl.AllOfOp):
            problems = (self.problem(attribute, variable) for variable in constraint.args)
            return next((problem for problem in problems if problem is not None), None)
        if isinstance(constraint, irdl.BaseOp):
            return self._check_base(attribute, constraint)
        if isinstance(constraint, irdl.ParametricOp):
            return self._check_parametric(attribute, constraint)
        return None

    def _check_base(self, attribute: Attribute, constraint: irdl.BaseOp) -> str | None:
        base = self._bases.get(constraint)
        name = constraint.base_name
        is_type = name.startswith("!") if name else base is not None and issubclass(base, Type)
        if name is not None:
            expected = name[1:]
        else:
            assert base is not None and issubclass(base, Parametric | ParametricType)
            expected = f"{base.dialect}.{base.mnemonic}"
        if is_type and not isinstance(attribute, TypeAttr):
            return f"expected type, got attribute '{plain_attribute(attribute)}'"
        got = _name_of(_content(attribute) if is_type else attribute)
        if got == expected:
            return None
        return f"expected base {'type' if is_type else 'attribute'} '{expected}' but got '{got}'"

    def _check_parametric(self, attribute: Attribute, constraint: irdl.ParametricOp) -> str | None:
        base = self._bases[constraint]
        assert issubclass(base, Parametric | ParametricType)
        is_type = issubclass(base, ParametricType)
        if is_type and not isinstance(attribute, TypeAttr):
            return f"expected type, got attribute '{plain_attribute(attribute)}'"
        content = _content(attribute) if is_type else attribute
        if not isinstance(content, base):
            kind = "type" if is_type else "attribute"
            name = f"{base.dialect}.{base.mnemonic}"
            return f"expected base {kind} '{name}' but got '{plain_attribute(attribute)}'"
        assert isinstance(content, Parametric | ParametricType)
        expected, got = len(content.parameters), len(constraint.args)
        if expected != got:
            name = f"{base.dialect}.{base.mnemonic}"
            return f"attribute '{name}' expects {expected} parameters but got {got}"
        pairs = zip(content.parameters, constraint.args, strict=True)
        problems = (self.problem(parameter, variable) for parameter, variable in pairs)
        return next((problem for problem in problems if problem is not None), None)


# --- Attributes and types ---------------------------------------------------------------------


def _parse_parametric(
    base: type[Parametric | ParametricType],
    definition: Definition,
    variables: Callable[[], Variables],
    parser: AsmParser,
) -> Attribute:
    start = parser.position - len(base.mnemonic)
    values: list[Attribute] = []
    if parser.accept("<") and not parser.accept(">"):
        values = parser.comma_list(parser.attribute)
        parser.expect(">")
    part = next((op for op in definition.body.blocks[0].ops if isinstance(op, ParametersOp)), None)
    expected = [] if part is None else part.args
    kind = "type" if issubclass(base, Type) else "attribute"
    if len(values) != len(expected):
        raise parser.unprefixed_error(
            f"expected {len(expected)} {kind} arguments, but had {len(values)}", start
        )
    checked = variables()
    for value, variable in zip(values, expected, strict=True):
        if (problem := checked.problem(value, variable)) is not None:
            raise parser.unprefixed_error(problem, start)
    return base(tuple(values))


def _print_parametric(attribute: Parametric | ParametricType, printer: AttributePrinter) -> str:
    if not attribute.parameters:
        return attribute.mnemonic
    return f"{attribute.mnemonic}<{', '.join(map(printer.attribute, attribute.parameters))}>"


# --- Operations -------------------------------------------------------------------------------


class DefinedOp(Op):
    """Base of the operations that files define."""

    definition: ClassVar[OperationOp]
    variables: ClassVar[Callable[[], Variables]]

    all_operands = operands(ANY_TYPE)
    all_results = results(ANY_TYPE)
    all_regions = regions()

    def verify_in_context(self) -> None:
        variables = type(self).variables()
        values: dict[type[OperandsOp | ResultsOp], Sequence[Value]] = {
            OperandsOp: self.operands,
            ResultsOp: self.results,
        }
        parts = {type(op): op for op in self.definition.body.blocks[0].ops}
        pairs = [
            pair
            for kind, own in values.items()
            for pair in self._values_and_constraints(kind, parts.get(kind), own)
        ]
        attributes = parts.get(AttributesOp)
        if isinstance(attributes, AttributesOp):
            for name, variable in zip(attributes.value_names.elements, attributes.args, strict=True):
                assert isinstance(name, StringAttr)
                value = self.attributes.get(name.value)
                if value is None:
                    raise self.op_error(f'attribute "{name.value}" is expected but not provided')
                self._raise_if(variables.problem(value, variable))
        for operand, variable in pairs:
            self._raise_if(variables.problem(TypeAttr(operand.type), variable))
        self._check_regions(parts.get(RegionsOp), variables)

    def _check_regions(self, part: Op | None, variables: Variables) -> None:
        expected = part.args if isinstance(part, RegionsOp) else []
        if len(self.regions) != len(expected):
            raise self.op_error(
                f"unexpected number of regions: expected {len(expected)} but got {len(self.regions)}"
            )
        for index, (region, variable) in enumerate(zip(self.regions, expected, strict=True)):
            constraint = variable.defining_op
            assert isinstance(constraint, irdl.RegionOp)
            self._check_region(index, region, constraint, variables)

    def _check_region(
        self, index: int, region: Region, constraint: irdl.RegionOp, variables: Variables
    ) -> None:
        arguments = region.blocks[0].arguments if region.blocks else []
        if constraint.constrained:
            if len(arguments) != len(constraint.args):
                message = (
                    f"expected region {index} to have {len(constraint.args)} arguments but got "
                    f"{len(arguments)}"
                )
                raise self._region_error(arguments[0].location if arguments else self.location, message)
            for argument, variable in zip(arguments, constraint.args, strict=True):
                problem = variables.problem(TypeAttr(argument.type), variable)
                if problem is not None:
                    raise self._region_error(argument.location, problem)
        count = constraint.number_of_blocks
        if count is not None and len(region.blocks) != count:
            raise self.error(f"expected region {index} to have {count} block(s) but got {len(region.blocks)}")

    def _region_error(self, location: Location, message: str) -> DiagnosticError:
        error = DiagnosticError.at(location, message)
        return error if location is self.location else error.note("see the operation", self.location)

    def _raise_if(self, problem: str | None) -> None:
        if problem is not None:
            raise self.error(problem)

    def _values_and_constraints(
        self, kind: type[OperandsOp | ResultsOp], part: Op | None, values: Sequence[Value]
    ) -> Iterator[tuple[Value, Value]]:
        """The operands or results, with their constraints. Raises unless there is the right number."""
        variables = part.args if isinstance(part, OperandsOp | ResultsOp) else []
        attribute = part.signature.attributes.get("variadicity") if part is not None else None
        kinds = attribute.kinds if isinstance(attribute, Variadicities) else ()
        position = 0
        for variable, size in zip(variables, self._group_sizes(kind, kinds, len(values)), strict=True):
            for value in values[position : position + size]:
                yield value, variable
            position += size

    def _group_sizes(self, kind: type[OperandsOp | ResultsOp], kinds: Sequence[str], count: int) -> list[int]:
        others = [index for index, word in enumerate(kinds) if word != SINGLE]
        singles = len(kinds) - len(others)
        if not others:
            if count != singles:
                raise self.error(f"op expects exactly {singles} {kind.plural}, but got {count}")
            return [1] * singles
        if len(others) > 1:
            return self._segment_sizes(kind, kinds, count)
        if count < singles:
            raise self.error(f"op expects at least {singles} {kind.plural}, but got {count}")
        if kinds[others[0]] == OPTIONAL and count > singles + 1:
            raise self.error(f"op expects at most {singles + 1} {kind.plural}, but got {count}")
        return [1 if word == SINGLE else count - singles for word in kinds]

    def _segment_sizes(
        self, kind: type[OperandsOp | ResultsOp], kinds: Sequence[str], count: int
    ) -> list[int]:
        name = f"{kind.singular}SegmentSizes"
        sizes = self.attributes.get(name)
        if sizes is None:
            raise self.error(f"'{name}' attribute is expected but not provided")
        if not isinstance(sizes, DenseArray) or sizes.element is not I32:
            raise self.error(f"'{name}' attribute is expected to be a dense i32 array")
        if len(sizes.values) != len(kinds):
            raise self.error(
                f"'{name}' attribute for specifying {kind.singular} segments must have {len(kinds)} "
                "elements, "
                f"but got {len(sizes.values)}"
            )
        numbers = [int(size) for size in sizes.values]
        for index, (number, word) in enumerate(zip(numbers, kinds, strict=True)):
            if number < 0:
                raise self.error(
                    f"'{name}' attribute for specifying {kind.singular} segments must have "
                    "non-negative values"
                )
            if word == SINGLE and number != 1:
                raise self.error(f"element {index} in '{name}' attribute must be equal to 1")
            if word == OPTIONAL and number > 1:
                raise self.error(f"element {index} in '{name}' attribute must be equal to 0 or 1")
        if sum(numbers) != count:
            raise self.error(
                f"sum of elements in '{name}' attribute must be equal to the number of {kind.plural}"
            )
        return numbers


_UNKNOWN_TYPE = ErrorKind("expected dynamic type")
_UNKNOWN_ATTRIBUTE = ErrorKind("expected dynamic attribute")


# --- Dialects ---------------------------------------------------------------------------------


def read_dialects(path: str, dialects: DialectTable) -> list[Dialect]:
    """The dialects that a file defines. Raises DiagnosticError if it is invalid, or UsageError."""
    try:
        source = Source(path, read_settings_file(native_path(path)))
    except OSError as error:
        raise UsageError(f"cannot open input file '{path}': {error.strerror}") from None
    problems: list[Diagnostic] = []
    try:
        module, _ = parse_module(source, dialects, ParseOptions())
    except DiagnosticError as error:
        raise error.within(source) from None
    with handling(problems.append):
        Verifier(dialects, plain_type, print_for_note).verify(module)
    if problems:
        raise DiagnosticError(problems[0]).within(source)
    return dialects_of(module)


def dialects_of(module: Op) -> list[Dialect]:
    """The dialects that a verified module defines."""
    classes: dict[Op, type[Attribute]] = {}
    bases: dict[Op, type[Attribute]] = {}
    made: list[Dialect] = []
    definitions = [op for op in module.walk() if isinstance(op, DialectOp)]
    for definition in definitions:
        dialect = Dialect(definition.sym_name)
        dialect.unknown_type, dialect.unknown_attribute = _UNKNOWN_TYPE, _UNKNOWN_ATTRIBUTE
        for inner in definition.body.blocks[0].ops:
            if isinstance(inner, TypeOp | AttributeDefinition):
                classes[inner] = _define_attribute(dialect, inner, bases)
            elif isinstance(inner, OperationOp):
                members = {"definition": inner, "variables": partial(Variables.of, inner, bases)}
                dialect.op(inner.sym_name)(type(inner.sym_name, (DefinedOp,), members))
        made.append(dialect)
    for op in module.walk():
        reference = op.signature.attributes.get("base_ref") or op.signature.attributes.get("base_type")
        if isinstance(op, irdl.BaseOp | irdl.ParametricOp) and isinstance(reference, SymbolRef):
            target = irdl.definition_of(op, reference)
            assert target is not None
            bases[op] = classes[target]
    return made


def _define_attribute(
    dialect: Dialect, definition: Definition, bases: dict[Op, type[Attribute]]
) -> type[Attribute]:
    is_type = isinstance(definition, TypeOp)
    base: Any = ParametricType if is_type else Parametric
    members = {"dialect": dialect.name, "mnemonic": definition.sym_name, "__module__": __name__}
    made: type[Parametric | ParametricType] = type(base)(definition.sym_name, (base,), members)
    parse: Any = partial(_parse_parametric, made, definition, partial(Variables.of, definition, bases))
    (dialect.type if is_type else dialect.attribute)(definition.sym_name)(parse)
    dialect.printer(made)(_print_parametric)
    return made
