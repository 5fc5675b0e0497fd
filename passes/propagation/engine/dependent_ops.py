"""Who is to be told when the sharding of a value changes, and in which order.

The order is that of the reference, because the result of propagation depends on it: of the values that
are the same data as the one that changed, first those inside the operation that owns the edge; then the
operation that makes the value; then the users, newest use first. Through the end of a region it goes to
the operation around it; through calls into functions, and from functions to where they are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.dialects.sdy.ops import DataFlowEdgeOp
from sdyopt.dialects.sdy.value_shardings import edge_of_owner, owning_op
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.data_flow import INLINED
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import symbol_references
from sdyopt.ir.traits import TERMINATOR
from sdyopt.ir.value import BlockArgument, OpOperand, OpResult, Value

from ...common.support.call_graph import callee_of


class Uses:
    """Knows the uses of the functions of a module."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module

    def ops_dependent_on(self, value: OpResult | BlockArgument) -> Iterator[Op]:
        """The operations to look at again when the sharding of a value has changed."""
        op = owning_op(value)
        if isinstance(op, DataFlowEdgeOp):
            owner = op.input
            assert isinstance(owner, OpResult | BlockArgument)
            for target in owning_op(owner).data_flow.other_targets(owning_op(owner), owner):
                yield from self._users(target, set())
        yield op
        yield from self._users(value, set())

    def users_of(self, function: FuncOp) -> list[Op]:
        """The operations that speak of a function."""
        return self._function_users.get(function, [])

    def _users(self, value: Value, seen: set[Value]) -> Iterator[Op]:
        if value in seen:
            # Functions that call each other in a circle.
            return
        seen.add(value)
        for use in value.uses:
            user = use.owner
            edge = edge_from(use)
            if edge is not None:
                yield edge
            elif TERMINATOR in user.traits:
                yield from self._beyond_terminator(use, seen)
            elif isinstance(user, CallOp):
                callee = callee_of(user)
                if callee is not None and not callee.is_declaration:
                    yield from self._users(callee.entry.arguments[use.index], seen)
            else:
                yield user

    def _beyond_terminator(self, use: OpOperand, seen: set[Value]) -> Iterator[Op]:
        end = use.owner
        around = end.parent_op
        assert around is not None
        function = end.parent_of(FuncOp)
        users = self.users_of(function) if isinstance(function, FuncOp) else []
        if not isinstance(end, ReturnOp) or not users:
            yield around
            return
        for user in users:
            if isinstance(user, CallOp):
                yield from self._users(user.results[use.index], seen)

    @cached_property
    def _function_users(self) -> dict[FuncOp, list[Op]]:
        functions = {op.sym_name: op for op in self._module.block.ops if isinstance(op, FuncOp)}
        found: dict[FuncOp, dict[Op, None]] = {}
        names_in: dict[DictAttr, list[str]] = {}
        for op in _in_order(self._module):
            attributes = op.attributes
            names = names_in.get(attributes)
            if names is None:
                names = names_in[attributes] = [symbol.root for symbol in symbol_references(attributes)]
            for name in (*op.signature.cached(_names_in_signature), *names):
                if name in functions:
                    found.setdefault(functions[name], {})[op] = None
        return {function: list(users) for function, users in found.items()}


def edge_from(use: OpOperand) -> DataFlowEdgeOp | None:
    """The operation for the data-flow edge that a use is a source of, if there is one.

    As in the reference, what goes into the body of an operation with edges for its arguments is not
    found to be on the edge.
    """
    op = use.owner
    is_end = TERMINATOR in op.traits
    holder = op.parent_op if is_end else op
    if holder is None or holder.data_flow is None:
        return None
    if holder.data_flow is INLINED and not is_end:
        return None
    return edge_of_owner(holder.results[use.index]) if use.index < len(holder.results) else None


def _names_in_signature(signature: OpSignature) -> list[str]:
    return [symbol.root for symbol in symbol_references(signature.attributes)]


def _in_order(module: ModuleOp) -> Iterator[Op]:
    """All operations below a module in the order in which MLIR collects uses of symbols.

    Those directly in a function come before those in regions, and the last region comes first.
    """
    for top in module.block.ops:
        yield top
        pending = list(top.regions)
        while pending:
            for block in pending.pop().blocks:
                for op in block.ops:
                    yield op
                    pending.extend(op.regions)
