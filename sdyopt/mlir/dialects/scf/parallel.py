"""scf.parallel with scf.reduce, and scf.forall with scf.forall.in_parallel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser, OperandName
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.scf.conditional import (
    assignments,
    parse_assignments,
    parse_result_types,
    print_result_types,
    region_arguments,
    scf,
)
from sdyopt.mlir.ir.attribute import EMPTY_DICT, ArrayAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, IntegerAttr
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.interfaces import SINGLE_BLOCK, ends_with, has_parent
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, region, regions, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.traits import (
    ANY_TYPE,
    ATTR_SIZED_OPERANDS,
    GRAPH_REGION,
    I64_ARRAY,
    INDEX_VALUE,
    NO_TERMINATOR,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    TERMINATOR,
    AttrConstraint,
    TypeConstraint,
)
from sdyopt.mlir.ir.types import DYNAMIC, I64, INDEX, RankedTensor, Type
from sdyopt.mlir.ir.value import BlockArgument, Value

# --- parallel ---------------------------------------------------------------------------------


def _operand_group(op_parser: OpAsmParser, count: int) -> list[OperandName]:
    """Parses as many operands in parentheses as there are induction variables."""
    offset = op_parser.skip_trivia()
    names = op_parser.comma_list(op_parser.operand, "(", ")")
    if len(names) != count:
        raise op_parser.error(f"expected {count} operands", offset)
    return names


@scf.op("parallel", RECURSIVE_EFFECTS, ATTR_SIZED_OPERANDS, SINGLE_BLOCK, NO_TERMINATOR)
class ParallelOp(Op):
    """A nest of loops whose iterations run in any order, perhaps with reductions of values of all of them.

    %sum = scf.parallel (%i) = (%lower) to (%upper) step (%step) init (%zero) -> f32 {
      %x = …
      scf.reduce(%x : f32) {
      ^bb0(%lhs: f32, %rhs: f32):
        %0 = arith.addf %lhs, %rhs : f32
        scf.reduce.return %0 : f32
      }
    }
    """

    lower_bound = operands(INDEX_VALUE)
    upper_bound = operands(INDEX_VALUE)
    step = operands(INDEX_VALUE)
    inits = operands(ANY_TYPE)
    results_ = results(ANY_TYPE)
    body = region(ONE_BLOCK, name="region")

    def _print_parallel(self, printer: OpAsmPrinter) -> None:
        variables = self.body.blocks[0].arguments
        lists: list[Sequence[Value]] = [variables, self.lower_bound, self.upper_bound, self.step]
        for word, values in zip(("", " =", " to", " step"), lists, strict=True):
            printer.write(f"{word} ({printer.name_list(values)})")
        if self.inits:
            printer.write(f" init ({printer.name_list(self.inits)})")
        print_result_types(self, printer)
        printer.write(" ")
        printer.region(self.body)
        printer.attribute_dictionary(self)

    @staticmethod
    def _parse_parallel(op_parser: OpAsmParser) -> None:
        variables = op_parser.comma_list(op_parser.argument_name, "(", ")")
        groups = []
        for word in ("=", "to", "step"):
            op_parser.expect(word)
            groups.append(_operand_group(op_parser, len(variables)))
        inits = op_parser.comma_list(op_parser.operand, "(", ")") if op_parser.accept("init") else []
        types = parse_result_types(op_parser) if op_parser.accept("->") else []
        types_of_variables = [INDEX] * len(variables)
        body = op_parser.region(region_arguments(op_parser, variables, types_of_variables))
        op_parser.ensure_terminator(body, ReduceOp)
        op_parser.attribute_dictionary()
        op_parser.check_operand_count(inits, types, op_parser.offset)
        fields = ("lower_bound", "upper_bound", "step", "inits")
        for field, names in zip(fields, [*groups, inits], strict=True):
            op_parser.operand_names[field] = names
            op_parser.types[field] = [*types] if field == "inits" else [INDEX] * len(names)
        op_parser.result_types = types

    assembly = assembly("custom<loops>", loops=custom(_parse_parallel, print=_print_parallel))

    def verify_in_context(self) -> None:
        sizes = (len(self.step), len(self.lower_bound), len(self.upper_bound))
        if not all(sizes):
            raise self.op_error("needs at least one tuple element for lowerBound, upperBound and step")
        for value in self.step:
            constant = constant_value(value.defining_op)
            if isinstance(constant, IntegerAttr) and constant.value <= 0:
                raise self.op_error("constant step operand must be positive")
        block = self.body.blocks[0]
        if len(block.arguments) != len(self.step):
            raise self.op_error(
                f"expects the same number of induction variables: {len(block.arguments)} as bound and step "
                f"values: {len(self.step)}"
            )
        if any(argument.type is not INDEX for argument in block.arguments):
            raise self.op_error("expects arguments for the induction variable to be of index type")
        last = block.last
        if not isinstance(last, ReduceOp):
            error = self.op_error("expects body to terminate with 'scf.reduce'")
            raise error if last is None else error.note("terminator here", last.location)
        for what, count in (("reductions", len(last.reductions)), ("initial values", len(self.inits))):
            if count != len(self.results):
                raise self.op_error(
                    f"expects number of results: {len(self.results)} to be the same as number of {what}: "
                    f"{count}"
                )
        for index, (type, result) in enumerate(zip(last.operand_types, self.result_types, strict=False)):
            if type is not result:
                raise last.op_error(
                    f"expects type of {index}-th reduction operand: '{plain_type(type)}' to be the same as "
                    f"the {index}-th result type: '{plain_type(result)}'"
                )


@scf.op("reduce", has_parent("scf.parallel"), TERMINATOR, RECURSIVE_EFFECTS)
class ReduceOp(Op):
    """Ends the body of scf.parallel: the values of an iteration, and a region that combines two, for each."""

    values = operands(ANY_TYPE)
    reductions = regions(ONE_BLOCK)

    assembly = assembly("(`(` $values^ `:` type($values) `)`)? $reductions attr-dict")

    def verify_regions(self) -> None:
        if len(self.values) != len(self.reductions):
            raise self.op_error(
                f"expects number of reduction regions: {len(self.reductions)} to be the same as number of "
                f"reduction operands: {len(self.values)}"
            )
        for index, (value, reduction) in enumerate(zip(self.values, self.reductions, strict=True)):
            block = reduction.blocks[0]
            types = [argument.type for argument in block.arguments]
            if types != [value.type, value.type]:
                raise self.op_error(
                    f"expected two block arguments with type '{plain_type(value.type)}' in the {index}-th "
                    "reduction region"
                )
            if not isinstance(block.last, ReduceReturnOp):
                raise self.op_error("reduction bodies must be terminated with an 'scf.reduce.return' op")


@scf.op("reduce.return", has_parent("scf.reduce"), PURE, TERMINATOR)
class ReduceReturnOp(Op):
    """Ends a region of scf.reduce: two values, combined."""

    value = operand(ANY_TYPE)

    assembly = assembly("$value attr-dict `:` type($value)")

    def verify_in_context(self) -> None:
        block = self.parent
        if block is not None and block.arguments and block.arguments[0].type is not self.value.type:
            type = plain_type(block.arguments[0].type)
            raise self.op_error(f"must have type '{type}' (the type of the reduction inputs)")


def _empty_region() -> Region:
    region = Region()
    region.add_block()
    return region


# --- forall -----------------------------------------------------------------------------------

_TENSOR = TypeConstraint[RankedTensor](
    "ranked tensor of any type values", lambda type: isinstance(type, RankedTensor)
)
_MAPPING = AttrConstraint[ArrayAttr](
    "Device Mapping array attribute", lambda a: isinstance(a, ArrayAttr), lambda a: a, cls=ArrayAttr
)
_BOUNDS = (
    ("lower bound", "lower_bound", "static_lower_bound"),
    ("upper bound", "upper_bound", "static_upper_bound"),
    ("step", "step", "static_step"),
)


def _parse_bounds(op_parser: OpAsmParser, field: str, static: str) -> None:
    """Parses `(%a, 2, …)`."""
    names: list[OperandName] = []

    def parse_bound() -> int:
        name = op_parser.accept_operand()
        if name is not None:
            names.append(name)
            return DYNAMIC
        offset = op_parser.skip_trivia()
        value = op_parser.accept_integer()
        if value is None:
            raise op_parser.error("expected SSA value or integer", offset)
        return value

    numbers = op_parser.comma_list(parse_bound, "(", ")")
    _set_bounds(op_parser, field, static, numbers, names)


def _set_bounds(
    op_parser: OpAsmParser, field: str, static: str, numbers: Sequence[int], names: list[OperandName]
) -> None:
    attribute = getattr(ForallOp, static).name
    op_parser.attributes[attribute] = DenseArray(I64, tuple(numbers))
    op_parser.operand_names[field] = names
    op_parser.types[field] = [INDEX] * len(names)


def _bound(number: int, values: Iterator[Value], printer: OpAsmPrinter) -> str:
    return printer.name(next(values)) if number == DYNAMIC else str(number)


@scf.op(
    "forall", RECURSIVE_EFFECTS, ATTR_SIZED_OPERANDS, ends_with("scf.forall.in_parallel", is_implied=True)
)
class ForallOp(Op):
    """Runs its body once for each index, in any order; the bodies update the outputs at the end.

    %r = scf.forall (%i) in (8) shared_outs(%out = %init) -> (tensor<8xf32>) {
      %x = …
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %x into %out[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    }
    """

    lower_bound = operands(INDEX_VALUE)
    upper_bound = operands(INDEX_VALUE)
    step = operands(INDEX_VALUE)
    outputs = operands(_TENSOR)
    static_lower_bound = attr(I64_ARRAY, name="staticLowerBound")
    static_upper_bound = attr(I64_ARRAY, name="staticUpperBound")
    static_step = attr(I64_ARRAY, name="staticStep")
    mapping = optional_attr(_MAPPING)
    results_ = results(ANY_TYPE)
    body = region(ONE_BLOCK, name="region")

    def _print_forall(self, printer: OpAsmPrinter) -> None:
        arguments = self.body.blocks[0].arguments
        rank = len(self.static_lower_bound)
        lower, upper, step = [
            f"({', '.join(_bound(number, values, printer) for number in numbers)})"
            for numbers, values in (
                (self.static_lower_bound, iter(self.lower_bound)),
                (self.static_upper_bound, iter(self.upper_bound)),
                (self.static_step, iter(self.step)),
            )
        ]
        printer.write(f" ({printer.name_list(arguments[:rank])}) ")
        is_normalized = not any(self.static_lower_bound) and all(number == 1 for number in self.static_step)
        printer.write(f"in {upper}" if is_normalized else f"= {lower} to {upper} step {step}")
        if self.outputs:
            pairs = assignments(arguments[rank:], self.outputs, printer)
            printer.write(f" shared_outs{pairs} -> ({printer.types(self.result_types)})")
        printer.write(" ")
        printer.region(self.body, print_terminator=bool(self.results))
        printer.attribute_dictionary(self, *[getattr(ForallOp, static).name for _, _, static in _BOUNDS])

    @staticmethod
    def _parse_forall(op_parser: OpAsmParser) -> None:
        variables = op_parser.comma_list(op_parser.argument_name, "(", ")")
        if op_parser.accept("in"):
            _parse_bounds(op_parser, "upper_bound", "static_upper_bound")
            _set_bounds(op_parser, "lower_bound", "static_lower_bound", [0] * len(variables), [])
            _set_bounds(op_parser, "step", "static_step", [1] * len(variables), [])
        else:
            for word, (_, field, static) in zip(("=", "to", "step"), _BOUNDS, strict=True):
                op_parser.expect(word)
                _parse_bounds(op_parser, field, static)
        offset = op_parser.skip_trivia()
        arguments: list[OperandName] = []
        outputs: list[OperandName] = []
        types: list[Type] = []
        if op_parser.accept("shared_outs"):
            arguments, outputs = parse_assignments(op_parser)
            op_parser.expect("->")
            types = parse_result_types(op_parser)
        op_parser.check_operand_count(outputs, types, offset)
        op_parser.operand_names["outputs"], op_parser.types["outputs"] = outputs, types
        op_parser.result_types = types
        argument_types = [*[INDEX] * len(variables), *types]
        region = op_parser.region(region_arguments(op_parser, [*variables, *arguments], argument_types))
        block = region.blocks[0] if region.blocks else region.add_block()
        if block.last is None or not block.last.is_terminator:
            signature = OpSignature(InParallelOp, InParallelOp.name, EMPTY_DICT, (), ())
            end = build(signature, (), EMPTY_DICT, (op_parser.source, op_parser.offset), (_empty_region(),))
            block.append(end)
        op_parser.attribute_dictionary()

    assembly = assembly("custom<loops>", loops=custom(_parse_forall, print=_print_forall))

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        outputs = signature[ForallOp.outputs]
        if len(outputs) != len(signature.result_types):
            raise signature.op_error(
                f"produces {len(signature.result_types)} results, but has only {len(outputs)} outputs"
            )
        first = len(signature.operand_types) - len(outputs)
        for index, (output, result) in enumerate(zip(outputs, signature.result_types, strict=True)):
            if output is not result:
                raise signature.op_error(
                    f"expected type of operand #{first + index} ('{plain_type(output)}') to match type of "
                    f"corresponding result ('{plain_type(result)}')"
                )

    def verify_in_context(self) -> None:
        rank, arguments = len(self.static_lower_bound), self.body.blocks[0].arguments
        if len(arguments) != rank + len(self.outputs):
            raise self.op_error(f"region expects {rank + len(self.outputs)} arguments")
        for index, argument in enumerate(arguments[:rank]):
            if argument.type is not INDEX:
                raise self.op_error(f"expects {index}-th block argument to be an index")
        for index, (argument, output) in enumerate(zip(arguments[rank:], self.outputs, strict=True)):
            if argument.type is not output.type:
                raise self.op_error(
                    f"type mismatch between {index}-th output and corresponding block argument"
                )
        if self.mapping is not None and self.mapping.elements and len(self.mapping.elements) != rank:
            raise self.op_error("mapping attribute size must match op rank")
        for name, field, static in _BOUNDS:
            numbers, values = getattr(self, static), getattr(self, field)
            if len(numbers) != rank:
                raise self.error(f"expected {rank} {name} values, got {len(numbers)}")
            if numbers.count(DYNAMIC) != len(values):
                raise self.error(f"expected {numbers.count(DYNAMIC)} dynamic {name} values")


@scf.op(
    "forall.in_parallel",
    PURE,
    has_parent("scf.forall"),
    TERMINATOR,
    GRAPH_REGION,
    NO_TERMINATOR,
    SINGLE_BLOCK,
)
class InParallelOp(Op):
    """Ends the body of scf.forall: updates of the outputs, which are its only operations."""

    region = region(ONE_BLOCK, name="region")

    def _print_in_parallel(self, printer: OpAsmPrinter) -> None:
        printer.write(" ")
        printer.region(self.region)

    @staticmethod
    def _parse_in_parallel(op_parser: OpAsmParser) -> None:
        region = op_parser.region()
        if not region.blocks:
            region.add_block()

    assembly = assembly(
        "custom<updates> attr-dict", updates=custom(_parse_in_parallel, print=_print_in_parallel)
    )

    def verify_in_context(self) -> None:
        parent = self.parent
        for op in self.region.blocks[0].ops:
            destinations = op.updated_destinations
            if destinations is None:
                raise self.op_error("expected only ParallelCombiningOpInterface ops").note(
                    "unexpected op here", op.location
                )
            for destination in destinations(op):
                if not isinstance(destination, BlockArgument) or destination.block is not parent:
                    raise op.op_error("may only insert into an output block argument")
