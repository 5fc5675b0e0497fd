"""scf.for and scf.while, and their canonicalizations."""

from __future__ import annotations

from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser, OperandName
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.scf.conditional import (
    BRANCH_POINT,
    Edge,
    YieldOp,
    assignments,
    branch_error,
    check_edges,
    parse_assignments,
    parse_result_types,
    region_arguments,
    scf,
)
from sdyopt.mlir.ir.attribute import UNIT
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.interfaces import SINGLE_BLOCK, has_parent
from sdyopt.mlir.ir.op_fields import operand, operands, optional_attr, region, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import (
    ANY_TYPE,
    BOOLEAN_VALUE,
    NO_TERMINATOR,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    TERMINATOR,
    UNIT_ATTR,
    TypeConstraint,
)
from sdyopt.mlir.ir.types import INDEX, FunctionType, IndexType, IntegerType, Type
from sdyopt.mlir.ir.value import BlockArgument, Value


def _number(op: ForOp, attribute: IntegerAttr) -> int:
    """The value as the loop compares it."""
    if not op.unsigned_comparison or attribute.value >= 0:
        return attribute.value
    width = attribute.type.width if isinstance(attribute.type, IntegerType) else 64
    return attribute.value + (1 << width)


def _yields_outer_values(block: Block) -> bool:
    terminator = block.last
    return block.first is terminator and all(
        not (isinstance(value, BlockArgument) and value.block is block)
        for value in (() if terminator is None else terminator.operands)
    )


_YIELD, _CONDITION = "Operation scf.yield", "Operation scf.condition"


_LOOP_INDEX = TypeConstraint[Type](
    "signless integer or index",
    lambda type: isinstance(type, IndexType) or (isinstance(type, IntegerType) and type.is_signless),
)


@scf.op("for", RECURSIVE_EFFECTS, NO_TERMINATOR, SINGLE_BLOCK)
class ForOp(Op):
    """A loop from a lower bound to an upper one, exclusive, with loop-carried values.

    %r = scf.for %i = %lower to %upper step %step iter_args(%sum = %zero) -> (f32) {
      %next = arith.addf %sum, %x : f32
      scf.yield %next : f32
    }
    """

    lower_bound = operand(_LOOP_INDEX)
    upper_bound = operand(_LOOP_INDEX)
    step = operand(_LOOP_INDEX)
    inits = operands(ANY_TYPE)
    unsigned_comparison = optional_attr(UNIT_ATTR, name="unsignedCmp")
    results_ = results(ANY_TYPE)
    body = region(ONE_BLOCK)

    def _print_for(self, printer: OpAsmPrinter) -> None:
        index, *arguments = self.body.blocks[0].arguments
        is_unsigned = "unsigned " if self.unsigned_comparison else ""
        lower, upper, step = (printer.name(value) for value in self.operands[:3])
        printer.write(f" {is_unsigned}{printer.name(index)} = {lower} to {upper} step {step}")
        if self.inits:
            pairs = assignments(arguments, self.inits, printer)
            printer.write(f" iter_args{pairs} -> ({printer.types(self.result_types)})")
        printer.write(" ")
        if index.type is not INDEX:
            printer.write(f" : {printer.type(index.type)} ")
        printer.region(self.body, print_terminator=bool(self.inits))

    @staticmethod
    def _parse_for(op_parser: OpAsmParser) -> None:
        if op_parser.accept("unsigned"):
            op_parser.attributes["unsignedCmp"] = UNIT
        names = [op_parser.argument_name()]
        op_parser.expect("=")
        bounds = [op_parser.operand()]
        for word in ("to", "step"):
            op_parser.expect(word)
            bounds.append(op_parser.operand())
        inits: list[OperandName] = []
        types: list[Type] = []
        if op_parser.accept("iter_args"):
            arguments, inits = parse_assignments(op_parser)
            names += arguments
            op_parser.expect("->")
            types = parse_result_types(op_parser)
        if len(types) != len(inits):
            message = "mismatch in number of loop-carried values and defined values"
            raise op_parser.error(message, op_parser.offset)
        index_type = op_parser.type() if op_parser.accept(":") else INDEX
        # The names of the operands are not those of the arguments, which are in the region only.
        op_parser.operands = [
            *(op_parser.resolve(bound, index_type) for bound in bounds),
            *(op_parser.resolve(init, type) for init, type in zip(inits, types, strict=True)),
        ]
        op_parser.result_types = types
        body = op_parser.region(region_arguments(op_parser, names, [index_type, *types]))
        op_parser.ensure_terminator(body, YieldOp)

    assembly = assembly(
        "custom<loop>($unsigned_comparison) attr-dict", loop=custom(_parse_for, print=_print_for)
    )

    def _fold_trips(self, rewriter: Rewriter) -> bool:
        """Replaces a loop that runs never or once, or whose only effect is to yield values from outside."""
        count, block = self._trip_count(), self.body.blocks[0]
        terminator = block.last
        assert terminator is not None
        if count == 0:
            rewriter.replace(self, self.inits)
            return True
        if count is None or (count > 1 and not _yields_outer_values(block)):
            return False
        mapping: dict[Value, Value] = dict(zip(block.arguments, [self.operands[0], *self.inits], strict=True))
        for inner in list(block.ops):
            if inner is not terminator:
                rewriter.insert(rewriter.clone(inner, mapping), before=self)
        rewriter.replace(self, [mapping.get(value, value) for value in terminator.operands])
        return True

    def _drop_carried_values(self, rewriter: Rewriter) -> bool:
        """Removes loop-carried values that do not change, or that nothing uses."""
        index, *arguments = self.body.blocks[0].arguments
        terminator = self.body.blocks[0].last
        assert terminator is not None
        dropped = [
            yielded is argument or yielded is init or not (argument.has_uses or result.has_uses)
            for argument, init, yielded, result in zip(
                arguments, self.inits, terminator.operands, self.results, strict=True
            )
        ]
        if not any(dropped):
            return False
        kept = [position for position, is_dropped in enumerate(dropped) if not is_dropped]
        body = Region()
        block = body.add_block()
        mapping: dict[Value, Value] = {index: rewriter.add_argument(block, index.type, index.location)}
        for argument, init, is_dropped in zip(arguments, self.inits, dropped, strict=True):
            mapping[argument] = (
                init if is_dropped else rewriter.add_argument(block, argument.type, argument.location)
            )
        clone_body(self.body.blocks[0], block, mapping, rewriter)
        yielded = [mapping.get(terminator.operand_at(p), terminator.operand_at(p)) for p in kept]
        rewriter.create(YieldOp, yielded, (), at_end_of=block, location=terminator.location)
        loop = rewriter.create(
            type(self),
            [*self.operands[:3], *(self.inits[position] for position in kept)],
            [self.result_types[position] for position in kept],
            {**dict(self.signature.attributes.entries), **dict(self.attributes.entries)},
            before=self,
            regions=[body],
            location=self.location,
        )
        remaining = iter(loop.results)
        pairs = zip(self.inits, dropped, strict=True)
        rewriter.replace(self, [init if is_dropped else next(remaining) for init, is_dropped in pairs])
        return True

    canonicalizations: ClassVar[tuple[Pattern, ...]] = (
        Pattern(_fold_trips),
        Pattern(_drop_carried_values),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if len(set(signature.operand_types[:3])) > 1:
            raise signature.op_error(
                "failed to verify that all of {lowerBound, upperBound, step} have same type"
            )
        if len(signature[ForOp.inits]) != len(signature.result_types):
            raise signature.op_error("mismatch in number of loop-carried values and defined values")

    def verify_regions(self) -> None:
        index_type = self.operands[0].type
        arguments = self.body.blocks[0].arguments
        if not arguments or arguments[0].type is not index_type:
            raise self.op_error("expected induction variable to be same type as bounds and step")
        carried, last = arguments[1:], self.body.blocks[0].last
        if len(self.inits) != len(carried):
            raise self.op_error(
                f"different number of inits and region iter_args: {len(self.inits)} != {len(carried)}"
            )
        yielded = () if last is None else last.operand_types
        if carried and not yielded:
            error = self.op_error(branch_error(_YIELD, "Region #0", len(yielded), len(carried)))
            raise error if last is None else error.note(BRANCH_POINT, last.location)
        counts = (len(carried), len(yielded), len(self.results))
        if len(set(counts)) > 1:
            raise self.op_error(
                f"different number of region iter_args and yielded values: {counts[0]} != {counts[1]}"
            )
        for number, (init, argument, value, result) in enumerate(
            zip(self.inits, carried, yielded, self.result_types, strict=True)
        ):
            pairs = (
                ("init", init.type, "region iter_arg", argument.type),
                ("region iter_arg", argument.type, "yielded value", value),
                ("region iter_arg", argument.type, "loop result", result),
            )
            for first, first_type, second, second_type in pairs:
                if first_type is not second_type:
                    raise self.op_error(
                        f"{number}-th {first} and {number}-th {second} have different type: "
                        f"'{plain_type(first_type)}' != '{plain_type(second_type)}'"
                    )

    def _trip_count(self) -> int | None:
        """The number of iterations; None if it is not known."""
        lower, upper, step = (constant_value(value.defining_op) for value in self.operands[:3])
        # As in C++, a loop with step 0 does not run.
        if self.operands[0] is self.operands[1] or (isinstance(step, IntegerAttr) and step.value == 0):
            return 0
        if not isinstance(lower, IntegerAttr) or not isinstance(upper, IntegerAttr):
            return None
        first, last = _number(self, lower), _number(self, upper)
        if first >= last:
            return 0
        if not isinstance(step, IntegerAttr) or _number(self, step) < 0:
            return None
        return -(-(last - first) // _number(self, step))


@scf.op("condition", PURE, has_parent("scf.while"), TERMINATOR)
class ConditionOp(Op):
    """Ends the first region of scf.while: whether to go on, and the values for the second or the results."""

    condition = operand(BOOLEAN_VALUE)
    values = operands(ANY_TYPE)

    assembly = assembly("`(` $condition `)` attr-dict ($values^ `:` type($values))?")


def clone_body(source: Block, target: Block, mapping: dict[Value, Value], rewriter: Rewriter) -> None:
    """Clones the operations of a block, except its terminator, to the end of another."""
    for inner in list(source.ops):
        if inner is not source.last:
            rewriter.insert(rewriter.clone(inner, mapping), at_end_of=target)


@scf.op("while", RECURSIVE_EFFECTS, SINGLE_BLOCK)
class WhileOp(Op):
    """A loop that runs its second region as long as the condition at the end of the first holds.

    %r = scf.while (%x = %init) : (f32) -> f32 {
      scf.condition(%goes_on) %x : f32
    } do {
    ^bb0(%y: f32):
      scf.yield %y : f32
    }
    """

    inits = operands(ANY_TYPE)
    results_ = results(ANY_TYPE)
    before = region(ONE_BLOCK)
    after = region(ONE_BLOCK)

    def _print_while(self, printer: OpAsmPrinter) -> None:
        if self.inits:
            printer.write(f" {assignments(self.before.blocks[0].arguments, self.inits, printer)}")
        types = printer.function_type(self.operand_types, self.result_types)
        printer.write(f" : {types} ")
        printer.region(self.before)
        printer.write(" do ")
        printer.region(self.after, print_arguments=True)
        printer.attribute_dictionary(self, with_keyword=True)

    @staticmethod
    def _parse_while(op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        names: list[OperandName] = []
        inits: list[OperandName] = []
        if op_parser.looking_at("("):
            names, inits = parse_assignments(op_parser)
        type_offset = op_parser.skip_trivia()
        op_parser.expect(":")
        type = op_parser.type()
        if not isinstance(type, FunctionType):
            raise op_parser.error("expected function type", type_offset)
        if len(type.inputs) != len(inits):
            raise op_parser.error(
                f"expected as many input types as operands (expected {len(inits)} got {len(type.inputs)})",
                type_offset,
            )
        op_parser.operands = op_parser.resolve_all(inits, type.inputs, offset)
        op_parser.result_types = list(type.results)
        op_parser.region(region_arguments(op_parser, names, type.inputs))
        op_parser.expect("do")
        op_parser.region()
        op_parser.attribute_dictionary_with_keyword()

    assembly = assembly("custom<loop>", loop=custom(_parse_while, print=_print_while))

    def verify_regions(self) -> None:
        before, after = self.before.blocks[0], self.after.blocks[0]
        condition, last = before.last, after.last
        if not isinstance(condition, ConditionOp):
            error = self.op_error("expects the 'before' region to terminate with 'scf.condition'")
            raise error if condition is None else error.note("terminator here", condition.location)
        if not isinstance(last, YieldOp):
            error = self.op_error("expects the 'after' region to terminate with 'scf.yield'")
            raise error if last is None else error.note("terminator here", last.location)
        forwarded = condition.operand_types[1:]
        before_types = [argument.type for argument in before.arguments]
        after_types = [argument.type for argument in after.arguments]
        edges = [
            Edge("parent", "Region #0", self, self.operand_types, before_types),
            Edge(_CONDITION, "parent", condition, forwarded, self.result_types),
            Edge(_CONDITION, "Region #1", condition, forwarded, after_types),
            Edge(_YIELD, "Region #0", last, last.operand_types, before_types),
        ]
        check_edges(self, edges)
