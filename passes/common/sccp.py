"""sccp: propagate constants along branches that may be taken, and into and out of private functions.

    %true = arith.constant true
    %c3 = arith.constant 3 : i32
    cf.cond_br %true, ^bb1(%c3 : i32), ^bb2
  ^bb1(%x: i32):
    %0 = arith.addi %x, %c3 : i32
    return %0 : i32
becomes
    return %c6 : i32      // in ^bb1

Each value is assumed to be constant, and each block to be unreachable, until the opposite follows from the
operations that may be executed: sparse conditional constant propagation. Constants replace the values, and
are created at the start of the function. Arguments of a private function are constant if they are so in all
calls. As in C++, loops and branches of `stablehlo` are opaque to the pass, and so are results of operations
that do not fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.dialects.cf import SwitchOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.scf import IfOp, YieldOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.cse import constant_value, insertion_region, outcome_of_fold
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.interfaces import successor_operand_values, would_be_dead
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from .support.call_graph import functions_with_known_calls


@register("sccp")
class SCCP(Pass):
    anchor = None

    def run(self, op: Op) -> bool:
        rewriter = Rewriter()
        analysis = _Analysis(op)
        analysis.run()
        _Replacement(analysis, rewriter).run(op.regions)
        return rewriter.changed


class _Constant(NamedTuple):
    """The state of a value: None if it is not constant, else the dialect that creates the constant."""

    value: Attribute | None
    dialect: Dialect | None = None


_NOT_CONSTANT = _Constant(None)


class _Analysis:
    """The constants among the values in an operation, and the blocks that may be executed.

    Operations are visited again when what is known of an operand changes, until nothing changes.
    """

    def __init__(self, root: Op) -> None:
        self._root = root
        # A value that is missing has not been computed by any operation that may be executed.
        self.known: dict[Value, _Constant] = {}
        self._executable: set[Block] = set()
        # The functions of which all calls are known, and the calls of each function that may be executed.
        self._private = set(functions_with_known_calls(root))
        self._calls: dict[FuncOp, dict[CallOp, None]] = {}
        self._pending: dict[Op, None] = {}

    def run(self) -> None:
        for region in self._root.regions:
            self._enter(region)
        while self._pending:
            op = next(iter(self._pending))
            del self._pending[op]
            self._visit(op)

    # --- What is known ------------------------------------------------------------------

    def _join(self, value: Value, constant: _Constant) -> None:
        """Adds what may be the value of `value`."""
        old = self.known.get(value)
        if old is not None and old.value is not constant.value:
            constant = _NOT_CONSTANT
        if old is None or old.value is not constant.value:
            self.known[value] = constant
            for user in value.users:
                if user.parent in self._executable:
                    self._pending[user] = None

    def _join_all(self, targets: Iterable[Value], sources: Iterable[Value]) -> None:
        for target, source in zip(targets, sources, strict=False):
            constant = self.known.get(source)
            if constant is not None:
                self._join(target, constant)

    def _set_not_constant(self, values: Iterable[Value]) -> None:
        for value in values:
            self._join(value, _NOT_CONSTANT)

    def _execute(self, block: Block) -> None:
        """Records that a block may be executed."""
        if block not in self._executable:
            self._executable.add(block)
            self._pending.update(dict.fromkeys(block.ops))

    def _enter(self, region: Region) -> None:
        """Records that a region may be executed, with arguments of which nothing is known."""
        if region.entry is not None:
            self._set_not_constant(region.entry.arguments)
            self._execute(region.entry)

    # --- Operations ---------------------------------------------------------------------

    def _visit(self, op: Op) -> None:
        if op.successors:
            self._visit_branch(op)
        elif isinstance(op, CallOp):
            self._visit_call(op)
        elif isinstance(op, ReturnOp) and isinstance(function := op.parent_op, FuncOp):
            for call in self._calls.get(function, ()):
                self._join_all(call.results, op.operands)
        elif isinstance(op, IfOp):
            self._visit_if(op)
        elif isinstance(op, YieldOp) and isinstance(branch := op.parent_op, IfOp):
            if all(operand in self.known for operand in op.operands):
                self._join_all(branch.results, op.operands)
        elif op.regions:
            if op not in self._private:
                for region in op.regions:
                    self._enter(region)
            self._set_not_constant(op.results)
        else:
            self._visit_plain(op)

    def _visit_branch(self, op: Op) -> None:
        if not op.successor_operands:
            for block in op.successors:
                self._set_not_constant(block.arguments)
                self._execute(block)
            return
        if isinstance(op, SwitchOp):
            taken: Sequence[int] = self._taken_cases(op)
        else:
            taken = self._taken(op, op.operand_at(0) if len(op.successors) == 2 else None)
        blocks = {op.successors[index] for index in taken}
        for index, block in enumerate(op.successors):
            # As in C++, a block that is taken may be so by each of several edges to it.
            if block in blocks:
                self._execute(block)
                self._join_all(block.arguments, successor_operand_values(op, index))

    def _taken(self, op: Op, condition: Value | None) -> Sequence[int]:
        """The numbers of the successors or regions that may be taken, of one or two.

        As in C++, none is taken as long as some operand is not computed, also one that is passed on.
        """
        if any(operand not in self.known for operand in op.operands):
            return ()
        if condition is None:
            return (0,)
        constant = self.known[condition]
        if isinstance(constant.value, IntegerAttr):
            return (0,) if constant.value.value else (1,)
        return (0, 1)

    def _taken_cases(self, op: SwitchOp) -> Sequence[int]:
        """As `_taken`, of the default and the cases."""
        if any(operand not in self.known for operand in op.operands):
            return ()
        flag = self.known[op.flag].value
        if not isinstance(flag, IntegerAttr):
            return range(len(op.successors))
        return (op.successor_of(flag.value),)

    def _visit_if(self, op: IfOp) -> None:
        for index in self._taken(op, op.condition):
            entry = op.regions[index].entry
            if entry is not None:
                self._execute(entry)

    def _visit_call(self, op: CallOp) -> None:
        function = lookup_symbol(op, op.callee)
        if (
            not isinstance(function, FuncOp)
            or function.is_declaration
            or function is self._root
            or not self._root.is_ancestor(function)
        ):
            self._set_not_constant(op.results)
            return
        self._calls.setdefault(function, {})[op] = None
        if function in self._private:
            self._execute(function.entry)
            self._join_all(function.entry.arguments, op.operands)
        for block in function.body.blocks:
            if block in self._executable and isinstance(block.last, ReturnOp):
                self._join_all(op.results, block.last.operands)

    def _visit_plain(self, op: Op) -> None:
        """Folds an operation without regions and successors."""
        if not op.results:
            return
        value = constant_value(op)
        if value is not None:
            self._join(op.results[0], _Constant(value, op.dialect))
            return
        operands = [self.known.get(operand) for operand in op.operands]
        if None in operands:
            return
        folded = _folded(op, [constant.value for constant in operands if constant is not None])
        if not folded:
            self._set_not_constant(op.results)
            return
        for result, outcome in zip(op.results, folded, strict=True):
            if isinstance(outcome, Attribute):
                self._join(result, _Constant(outcome, op.dialect))
            else:
                self._join_all([result], [outcome])


def _folded(op: Op, constants: Sequence[Attribute | None]) -> Sequence[Value | Attribute] | None:
    """The result of folding an operation; None if it does not fold, or only in place, which is reverted."""
    if op.fold is None:
        return None
    operands, signature, attributes = op.operands, op.signature, op.attributes
    folded = outcome_of_fold(op, constants)
    if folded is not None and not folded:
        for use, value in zip(op.operand_uses, operands, strict=True):
            if use.value is not value:
                use.unlink()
                use.link(value)
        op.signature, op.attributes = signature, attributes
        return None
    return folded


class _Replacement:
    """Replaces values that are known to be constant, in the order of C++, which is also that of constants."""

    def __init__(self, analysis: _Analysis, rewriter: Rewriter) -> None:
        self._known = analysis.known
        self._rewriter = rewriter
        # The constants by region, dialect, value and type.
        self._constants: dict[tuple[Region, Dialect, Attribute, Type], Value] = {}

    def run(self, regions: Sequence[Region]) -> None:
        worklist = [block for region in regions for block in reversed(region.blocks)]
        while worklist:
            block = worklist.pop()
            for op in block.ops:
                if not self._replace_results(op):
                    worklist += [inner for region in op.regions for inner in reversed(region.blocks)]
            for argument in block.arguments:
                self._replace(argument, block)

    def _replace_results(self, op: Op) -> bool:
        """Replaces the results of an operation; returns whether it was erased."""
        assert op.parent is not None
        replaced = [self._replace(result, op.parent) for result in op.results]
        if not replaced or not all(replaced) or not would_be_dead(op):
            return False
        self._rewriter.erase(op)
        return True

    def _replace(self, value: Value, block: Block) -> bool:
        known = self._known.get(value)
        if known is None or known.value is None or known.dialect is None:
            return False
        constant = self._constant(known.value, known.dialect, value.type, block)
        if constant is None:
            return False
        self._rewriter.replace_all_uses(value, constant)
        return True

    def _constant(self, value: Attribute, dialect: Dialect, type: Type, block: Block) -> Value | None:
        """A constant at the start of the function of a block; None if the dialect cannot create it."""
        region = insertion_region(block.parent)
        key = region, dialect, value, type
        if key not in self._constants:
            make = dialect.materialize_constant
            op = None if make is None else make(value, type, UnknownLoc())
            if op is None:
                return None
            self._rewriter.insert(op, at_start_of=region.blocks[0])
            self._constants[key] = op.results[0]
        return self._constants[key]
