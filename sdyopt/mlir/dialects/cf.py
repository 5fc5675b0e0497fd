"""The cf dialect: br, cond_br, switch and assert, and their canonicalizations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.attributes.element_literals import TOO_WIDE, are_too_wide
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser, OperandName
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.compare import SelectOp, make_constant
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.builtin_attributes import (
    DenseArray,
    DenseElements,
    IntegerAttr,
    dense,
    element_size,
    integer,
)
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.interfaces import successor_operand_values
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, successor, successors
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import (
    ANY_TYPE,
    ATTR_SIZED_OPERANDS,
    BOOLEAN_VALUE,
    I32_ARRAY,
    INTEGER_ELEMENTS_ATTR,
    PURE,
    STRING_ATTR,
    TERMINATOR,
    TypeConstraint,
)
from sdyopt.mlir.ir.types import I1, I32, IntegerType, Type, vector
from sdyopt.mlir.ir.value import Value

cf = DIALECT = Dialect("cf")
cf.is_inlinable = True
cf.materialize_constant = make_constant


def collapsed(block: Block, values: list[Value]) -> tuple[Block, list[Value]] | None:
    """Where a branch to a block goes that only branches on; None if it does not, or if that is a cycle.

    All blocks that only branch on are skipped at once: there may be many.
    """
    first = _only_branch(block)
    if first is None:
        return None
    visited = {block}
    next_branch: Op | None = first
    while isinstance(next_branch, BranchOp):
        (following,) = next_branch.successors
        if following in visited:
            return None
        visited.add(following)
        next_branch = following.last
    while first is not None:
        mapping: dict[Value, Value] = dict(zip(block.arguments, values, strict=True))
        (block,), values = first.successors, [mapping.get(value, value) for value in first.operands]
        first = _only_branch(block)
    return block, values


def _only_branch(block: Block) -> BranchOp | None:
    """The branch that is all that a block has, with the only uses of its arguments; else None."""
    first = block.last
    if not isinstance(first, BranchOp) or first is not block.first:
        return None
    if any(user is not first for argument in block.arguments for user in argument.users):
        return None
    return first


def branch(rewriter: Rewriter, op: Op, dest: Block, values: list[Value]) -> None:
    """Replaces a terminator with a branch."""
    rewriter.create(BranchOp, values, before=op, location=op.location, successors=[dest])
    rewriter.erase(op)


@cf.op("br", PURE, TERMINATOR)
class BranchOp(Op):
    """Branches to a block."""

    dest_operands = operands(ANY_TYPE)
    dest = successor(dest_operands)

    assembly = assembly("$dest (`(` $dest_operands^ `:` type($dest_operands) `)`)? attr-dict")

    def _simplify_branch(self, rewriter: Rewriter) -> bool:
        return self._merge_block(rewriter) or self._skip_block(rewriter)

    canonicalizations = (Pattern(_simplify_branch),)

    def _merge_block(self, rewriter: Rewriter) -> bool:
        """Merges a block into its only predecessor."""
        target, block = self.dest, self.parent
        if target is block or target.uses > 1:
            return False
        values = list(self.dest_operands)
        for argument, value in zip(target.arguments, values, strict=True):
            rewriter.replace_all_uses(argument, value)
        assert block is not None
        rewriter.erase(self)
        for inner in list(target.ops):
            rewriter.move(inner, at_end_of=block)
        rewriter.erase_block(target)
        return True

    def _skip_block(self, rewriter: Rewriter) -> bool:
        """Branches to where the destination branches."""
        target = None if self.dest is self.parent else collapsed(self.dest, self.dest_operands)
        if target is None:
            return False
        branch(rewriter, self, *target)
        return True


@cf.op("cond_br", PURE, TERMINATOR, ATTR_SIZED_OPERANDS)
class ConditionalBranchOp(Op):
    """Branches to one of two blocks."""

    condition = operand(BOOLEAN_VALUE)
    true_dest_operands = operands(ANY_TYPE)
    false_dest_operands = operands(ANY_TYPE)
    branch_weights = optional_attr(I32_ARRAY)
    true_dest = successor(true_dest_operands)
    false_dest = successor(false_dest_operands)

    assembly = assembly(
        "$condition (`weights` `(` $branch_weights^ `)`)? `,` "
        "$true_dest (`(` $true_dest_operands^ `:` type($true_dest_operands) `)`)? `,` "
        "$false_dest (`(` $false_dest_operands^ `:` type($false_dest_operands) `)`)? attr-dict"
    )

    def _fold_constant_condition(self, rewriter: Rewriter) -> bool:
        """Replaces a conditional branch on a constant with a branch."""
        condition = constant_value(self.condition.defining_op)
        if not isinstance(condition, IntegerAttr):
            return False
        target = self.true_dest if condition.value else self.false_dest
        values = self.true_dest_operands if condition.value else self.false_dest_operands
        branch(rewriter, self, target, values)
        return True

    def _skip_blocks(self, rewriter: Rewriter) -> bool:
        """Branches to where the destinations branch."""
        true_target = collapsed(self.true_dest, self.true_dest_operands)
        false_target = collapsed(self.false_dest, self.false_dest_operands)
        if true_target is None and false_target is None:
            return False
        true_dest, true_values = true_target or (self.true_dest, self.true_dest_operands)
        false_dest, false_values = false_target or (self.false_dest, self.false_dest_operands)
        weights = (
            {} if self.branch_weights is None else {"branch_weights": DenseArray(I32, self.branch_weights)}
        )
        rewriter.create(
            ConditionalBranchOp,
            [self.condition, *true_values, *false_values],
            (),
            {**weights, "operandSegmentSizes": DenseArray(I32, (1, len(true_values), len(false_values)))},
            before=self,
            location=self.location,
            successors=[true_dest, false_dest],
        )
        rewriter.erase(self)
        return True

    def _merge_destinations(self, rewriter: Rewriter) -> bool:
        """Branches unconditionally if both destinations are one block; arguments that differ are selected."""
        dest, true_values, false_values = self.true_dest, self.true_dest_operands, self.false_dest_operands
        if dest is not self.false_dest:
            return False
        if true_values != false_values and any(block is not self.parent for block in dest.predecessors):
            return False
        values = [
            true_value
            if true_value is false_value
            else rewriter.create(
                SelectOp,
                [self.condition, true_value, false_value],
                [true_value.type],
                before=self,
                location=self.location,
            ).results[0]
            for true_value, false_value in zip(true_values, false_values, strict=True)
        ]
        branch(rewriter, self, dest, values)
        return True

    def _reuse_condition(self, rewriter: Rewriter) -> bool:
        """Branches unconditionally if the only predecessor has branched on the same condition."""
        block = self.parent
        assert block is not None
        if block.uses != 1 or self.condition.has_one_use:
            return False
        before = block.predecessors[0].last
        if not isinstance(before, ConditionalBranchOp) or before.condition is not self.condition:
            return False
        if before.true_dest is block:
            branch(rewriter, self, self.true_dest, self.true_dest_operands)
        else:
            branch(rewriter, self, self.false_dest, self.false_dest_operands)
        return True

    def _propagate_condition(self, rewriter: Rewriter) -> bool:
        """Replaces the condition in a destination that has no other predecessor with a constant."""
        has_changed = False
        for dest, value in ((self.true_dest, 1), (self.false_dest, 0)):
            uses = [use for use in self.condition.uses if use.owner.parent is dest] if dest.uses == 1 else []
            if not uses:
                continue
            constant = make_constant(integer(value, I1), I1, self.location)
            assert constant is not None
            rewriter.insert(constant, before=self)
            for use in uses:
                rewriter.set_operand(use, constant.results[0])
            has_changed = True
        return has_changed

    canonicalizations = (
        Pattern(_fold_constant_condition),
        Pattern(_skip_blocks),
        Pattern(_merge_destinations),
        Pattern(_reuse_condition),
        Pattern(_propagate_condition),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        weights = signature[ConditionalBranchOp.branch_weights]
        if not weights:
            return
        if len(weights) != 2:
            raise signature.error(
                f"expects number of branch weights to match number of successors: {len(weights)} vs 2"
            )
        if not any(weights):
            raise signature.error("branch weights cannot all be zero")


@cf.op("assert")
class AssertOp(Op):
    """Aborts the program with a message if the condition is false."""

    condition = operand(BOOLEAN_VALUE)
    msg = attr(STRING_ATTR)

    assembly = assembly("$condition `,` $msg attr-dict")

    def _erase_if_true(self, rewriter: Rewriter) -> bool:
        """Erases an assertion whose condition is constant and true."""
        condition = constant_value(self.condition.defining_op)
        if not isinstance(condition, IntegerAttr) or not condition.value:
            return False
        rewriter.erase(self)
        return True

    canonicalizations = (Pattern(_erase_if_true),)


_INTEGER = TypeConstraint[IntegerType]("integer", lambda type: isinstance(type, IntegerType))

# A block and the values of its arguments.
Destination = tuple[Block, list[Value]]


def _parse_destination(op_parser: OpAsmParser) -> tuple[list[OperandName], list[Type]]:
    """Parses `: ^block(%value, … : type, …)`: the operands and their types."""
    op_parser.expect(":")
    op_parser.successor()
    if not op_parser.accept("("):
        return [], []
    names = op_parser.operand_list()
    op_parser.expect(":")
    types = op_parser.comma_list(op_parser.type)
    op_parser.expect(")")
    return names, types


def _case_values(values: Sequence[int], type: IntegerType) -> DenseElements:
    size = element_size(type)
    data = b"".join([(value & ((1 << type.width) - 1)).to_bytes(size, "little") for value in values])
    return dense(vector((len(values),), type), data)


def _signed(value: int, type: Type) -> int:
    assert isinstance(type, IntegerType)
    value &= (1 << type.width) - 1
    return value - (1 << type.width) if 0 < 1 << type.width >> 1 <= value else value


@cf.op("switch", PURE, TERMINATOR, ATTR_SIZED_OPERANDS)
class SwitchOp(Op):
    """Branches to the block of a case, or to the default if no case has the value of the flag."""

    flag = operand(_INTEGER)
    default_operands = operands(ANY_TYPE)
    case_operands = operands(ANY_TYPE)
    case_values = optional_attr(INTEGER_ELEMENTS_ATTR)
    case_operand_segments = attr(I32_ARRAY)
    default_dest = successor(default_operands)
    case_dests = successors(case_operands, "case_operand_segments")

    def _print_cases(self, printer: OpAsmPrinter) -> None:
        printer.newline()
        labels = ["default", *map(str, self.values)]
        for index, (label, block) in enumerate(zip(labels, self.successors, strict=True)):
            if index:
                printer.write(",")
                printer.newline()
            printer.write(f"  {label}: {printer.label(block)}")
            values = successor_operand_values(self, index)
            if values:
                types = printer.types([value.type for value in values])
                printer.write(f"({printer.name_list(values)} : {types})")
        if self.case_dests:
            printer.newline()

    @staticmethod
    def _parse_cases(op_parser: OpAsmParser) -> None:
        (flag_type,) = op_parser.types["flag"]
        assert isinstance(flag_type, IntegerType)
        op_parser.expect("default")
        op_parser.operand_names["default_operands"], op_parser.types["default_operands"] = _parse_destination(
            op_parser
        )
        names: list[OperandName] = []
        types: list[Type] = []
        values: list[int] = []
        segments: list[int] = []
        while op_parser.accept(","):
            offset = op_parser.skip_trivia()
            value = op_parser.accept_integer()
            if value is None:
                raise op_parser.error_at_next_token("expected integer value")
            if not -(1 << flag_type.width >> 1) <= value < 1 << flag_type.width:
                raise op_parser.error(f"case value is out of range for 'i{flag_type.width}'", offset)
            values.append(value)
            if are_too_wide(len(values), flag_type):
                raise op_parser.error(TOO_WIDE, op_parser.offset)
            case_names, case_types = _parse_destination(op_parser)
            op_parser.check_operand_count(case_names, case_types, op_parser.offset)
            names += case_names
            types += case_types
            segments.append(len(case_names))
        op_parser.operand_names["case_operands"], op_parser.types["case_operands"] = names, types
        op_parser.attributes["case_operand_segments"] = DenseArray(I32, tuple(segments))
        if values:
            op_parser.attributes["case_values"] = _case_values(values, flag_type)

    assembly = assembly(
        "$flag `:` custom<IntegerType>($flag) `,` `[` "
        "custom<cases>($case_values, $case_operand_segments) `]` attr-dict",
        cases=custom(_parse_cases, print=_print_cases),
    )

    def _drop_switch_without_cases(self, rewriter: Rewriter) -> bool:
        """Branches to the default if there is no case."""
        if self.case_dests:
            return False
        branch(rewriter, self, *self.default)
        return True

    def _drop_default_cases(self, rewriter: Rewriter) -> bool:
        """Drops the cases that branch as the default does."""
        kept = [case for case in self.cases if case[1] != self.default]
        if len(kept) == len(self.cases):
            return False
        self._make(rewriter, self.default, kept)
        return True

    def _fold_constant_flag(self, rewriter: Rewriter) -> bool:
        """Replaces a switch on a constant with a branch."""
        constant = constant_value(self.flag.defining_op)
        if not isinstance(constant, IntegerAttr):
            return False
        branch(rewriter, self, *self.destination_of(constant.value))
        return True

    def _skip_blocks(self, rewriter: Rewriter) -> bool:
        """Branches to where the destinations branch."""
        default = collapsed(*self.default)
        cases = [(value, collapsed(*destination)) for value, destination in self.cases]
        if default is None and all(destination is None for _, destination in cases):
            return False
        new_cases = [(value, new or old) for (value, new), (_, old) in zip(cases, self.cases, strict=True)]
        self._make(rewriter, default or self.default, new_cases)
        return True

    def _reuse_case(self, rewriter: Rewriter) -> bool:
        """Branches to the destination of the case by which the only predecessor switched on the flag."""
        before = self._switch_before()
        if before is None or self.parent is before.default_dest:
            return False
        (value,) = [value for value, (block, _) in before.cases if block is self.parent]
        branch(rewriter, self, *self.destination_of(value))
        return True

    def _drop_cases_before(self, rewriter: Rewriter) -> bool:
        """Drops the cases of the only predecessor from the switch on the same flag that is its default."""
        before = self._switch_before()
        if before is None or self.parent is not before.default_dest:
            return False
        known = {value for value, _ in before.cases}
        kept = [case for case in self.cases if case[0] not in known]
        if len(kept) == len(self.cases):
            return False
        self._make(rewriter, self.default, kept)
        return True

    canonicalizations = (
        Pattern(_drop_switch_without_cases),
        Pattern(_drop_default_cases),
        Pattern(_fold_constant_flag),
        Pattern(_skip_blocks),
        Pattern(_reuse_case),
        Pattern(_drop_cases_before),
    )

    @property
    def values(self) -> Sequence[int]:
        """The values of the cases, as signed numbers."""
        values = self.case_values
        return () if values is None else [_signed(value, values.type.element) for value in values.values]

    @property
    def default(self) -> Destination:
        """The block of the default, and the values of its arguments."""
        return self.default_dest, self.default_operands

    @property
    def cases(self) -> list[tuple[int, Destination]]:
        """The value of each case, its block, and the values of the arguments."""
        operands, counts = iter(self.case_operands), self.case_operand_segments
        return [
            (value, (block, list(islice(operands, count))))
            for value, block, count in zip(self.values, self.case_dests, counts, strict=True)
        ]

    def successor_of(self, flag: int) -> int:
        """The number of the successor to which a switch on this value branches."""
        number = _signed(flag, self.flag.type)
        return 1 + self.values.index(number) if number in self.values else 0

    def destination_of(self, flag: int) -> Destination:
        """Where a switch on this value branches."""
        index = self.successor_of(flag)
        return self.successors[index], successor_operand_values(self, index)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        values, flag = signature[SwitchOp.case_values], signature[SwitchOp.flag]
        if values is not None and values.type.element is not flag:
            raise signature.op_error(
                f"'flag' type ('{plain_type(flag)}') should match case value type "
                f"('{plain_type(values.type.element)}')"
            )

    def verify_in_context(self) -> None:
        count = 0 if self.case_values is None else self.case_values.type.num_elements
        if count != len(self.case_dests):
            raise self.op_error(
                f"number of case values ({count}) should match number of case destinations "
                f"({len(self.case_dests)})"
            )

    def _make(
        self, rewriter: Rewriter, default: Destination, cases: Sequence[tuple[int, Destination]]
    ) -> None:
        """Replaces a switch with one of these destinations."""
        values = [value for _, (_, operands) in cases for value in operands]
        segments = tuple([len(operands) for _, (_, operands) in cases])
        attributes: dict[str, Attribute] = {
            "case_operand_segments": DenseArray(I32, segments),
            "operandSegmentSizes": DenseArray(I32, (1, len(default[1]), len(values))),
        }
        if cases:
            type = self.flag.type
            assert isinstance(type, IntegerType)
            attributes["case_values"] = _case_values([value for value, _ in cases], type)
        rewriter.create(
            SwitchOp,
            [self.flag, *default[1], *values],
            (),
            attributes,
            before=self,
            location=self.location,
            successors=[default[0], *(block for _, (block, _) in cases)],
        )
        rewriter.erase(self)

    def _switch_before(self) -> SwitchOp | None:
        """The switch on the same flag that has the block of this one as its only successor of that kind."""
        block = self.parent
        if block is None or block.uses != 1:
            return None
        before = block.predecessors[0].last
        return before if isinstance(before, SwitchOp) and before.flag is self.flag else None
