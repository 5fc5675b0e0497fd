"""The order of visits: priorities of operations, the worklist of a round, and what depends on a value.

The order is that of Shardy's C++, because the result of propagation depends on it. For the result of an
`sdy.data_flow_edge`, first come the users of the targets of the edge other than its owner. Then come the
operation that defines the value or whose block has it as an argument, and the users of the value, most recent
use first. Some users are replaced by others: an operation or terminator with an operand that is a source of a
data-flow edge by the `sdy.data_flow_edge`, a call by the users of the callee's argument, the return of a
called function by the users of the call results, and any other terminator by its parent operation.

The first rounds propagate along operations that need no communication. Their shardings take precedence over
those of later rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from functools import cached_property

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, edge_of_owner, owning_op
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.interfaces import SINGLE_BODY
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import references_of_signature, symbol_references
from sdyopt.mlir.ir.traits import TERMINATOR
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult, Value
from sdyopt.shardy.sharding.propagation.step_input import DirectionPolicy

from ...common.support.call_graph import callee_of


class DependentOps:
    """The dependent operations of the values in a module, and the users of its functions."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module

    def of_value(self, value: OpResult | BlockArgument) -> Sequence[Op]:
        """The operations to visit again when the sharding of a value has changed."""
        op = owning_op(value)
        if isinstance(op, DataFlowEdgeOp):
            return list(self._of_edge_or_value(op, value))
        ops = [op]
        use = value.first_use
        while use is not None:
            user = use.owner
            if user.is_terminator or user.data_flow is not None or isinstance(user, CallOp):
                return list(self._of_edge_or_value(op, value))
            ops.append(user)
            use = use.next_use
        return ops

    def _of_edge_or_value(self, op: Op, value: OpResult | BlockArgument) -> Iterator[Op]:
        if isinstance(op, DataFlowEdgeOp):
            owner = op.input
            assert isinstance(owner, OpResult | BlockArgument)
            for target in owning_op(owner).data_flow.other_targets(owning_op(owner), owner):
                yield from self._users(target, set())
        yield op
        yield from self._users(value, set())

    def of_function(self, function: FuncOp) -> list[Op]:
        """The operations with a symbol reference to a function."""
        return self._function_users.get(function, [])

    def _users(self, value: Value, visited: set[Value]) -> Iterator[Op]:
        if value in visited:
            # Two calls of one function, or recursion, lead to the same value.
            return
        visited.add(value)
        for use in value.uses:
            user = use.owner
            if not (user.is_terminator or user.data_flow is not None or isinstance(user, CallOp)):
                # Nearly all users.
                yield user
                continue
            edge = _edge_of_use(use)
            if edge is not None:
                yield edge
            elif TERMINATOR in user.traits:
                yield from self._users_of_returned(use, visited)
            elif isinstance(user, CallOp):
                callee = callee_of(user)
                if callee is not None and not callee.is_declaration:
                    yield from self._users(callee.entry.arguments[use.index], visited)
            else:
                yield user

    def _users_of_returned(self, use: OpOperand, visited: set[Value]) -> Iterator[Op]:
        """The operations that depend on an operand of a terminator."""
        terminator = use.owner
        parent = terminator.parent_op
        assert parent is not None
        function = terminator.parent_of_type(FuncOp)
        users = self.of_function(function) if isinstance(function, FuncOp) else []
        if not isinstance(terminator, ReturnOp) or not users:
            yield parent
            return
        for user in users:
            if isinstance(user, CallOp):
                yield from self._users(user.results[use.index], visited)

    @cached_property
    def _function_users(self) -> dict[FuncOp, list[Op]]:
        functions = {op.sym_name: op for op in self._module.block.ops if isinstance(op, FuncOp)}
        users: dict[FuncOp, dict[Op, None]] = {}
        names_in: dict[DictAttr, list[str]] = {}
        for op in _in_symbol_use_order(self._module):
            attributes = op.attributes
            names = names_in.get(attributes)
            if names is None:
                names = names_in[attributes] = [symbol.root for symbol in symbol_references(attributes)]
            inherent = op.signature.cached(references_of_signature)
            for name in (*[symbol.root for symbol in inherent], *names) if inherent else names:
                if name in functions:
                    users.setdefault(functions[name], {})[op] = None
        return {function: list(ops) for function, ops in users.items()}


def _edge_of_use(use: OpOperand) -> DataFlowEdgeOp | None:
    """The operation for the data-flow edge that a use is a source of, if there is one.

    As in Shardy's C++, there is none for an operand that flows to a block argument of a single body.
    """
    user = use.owner
    is_terminator = TERMINATOR in user.traits
    edge_owner = user.parent_op if is_terminator else user
    assert edge_owner is not None
    if edge_owner.data_flow is None or (edge_owner.data_flow is SINGLE_BODY and not is_terminator):
        return None
    return edge_of_owner(edge_owner.results[use.index]) if use.index < len(edge_owner.results) else None


def _in_symbol_use_order(module: ModuleOp) -> Iterator[Op]:
    """All operations of a module in the order in which MLIR collects symbol uses.

    For each top-level operation in turn: the operation, those directly in its regions, and then those of
    nested regions, from the last region to the first.
    """
    for top in module.block.ops:
        yield top
        pending = list(top.regions)
        while pending:
            for block in pending.pop().blocks:
                for op in block.ops:
                    yield op
                    pending.extend(op.regions)


# The worklist of a propagation round, in the order of MLIR's greedy pattern driver.
#
# A round visits every dirty operation in program order. Operations that depend on an update are pushed on a
# stack, and visited before the next one in order, unless they are on the stack already or have not been
# reached in this round. An operation is dirty until its first visit, and again once a sharding that it reads
# has changed, or how it propagates. Only visits of dirty operations can change anything, so all others are
# skipped.
#
# The results of the main function, which are visited before and after each round, are dirty likewise.


class Worklist:
    """Operations by index in program order, then the results of the main function. All are dirty at first."""

    __slots__ = ("_dirty", "_op_count", "_position", "_stack", "_stacked")

    def __init__(self, op_count: int, result_count: int) -> None:
        self._dirty = bytearray(b"\1") * (op_count + result_count)
        self._op_count = op_count
        # The last operation in program order that was reached in this round.
        self._position = -1
        self._stack: list[int] = []
        self._stacked = bytearray(op_count)

    def mark_dirty(self, index: int) -> None:
        """Makes an operation or result dirty; it is visited when it is reached or pushed."""
        self._dirty[index] = 1

    def mark(self, mask: int) -> None:
        """Makes operations and results dirty. A mask has a byte for each of them, the first one least."""
        if mask:
            dirty = int.from_bytes(self._dirty, "little") | mask
            self._dirty[:] = dirty.to_bytes(len(self._dirty), "little")

    def take_out(self, mask: int) -> int:
        """Leaves out the visits of operations, unless they get dirty. Returns those that were dirty."""
        dirty = int.from_bytes(self._dirty, "little")
        if taken := dirty & mask:
            self._dirty[:] = (dirty ^ taken).to_bytes(len(self._dirty), "little")
        return taken

    def push(self, indices: Iterable[int]) -> None:
        """Pushes operations that have been reached in this round and are not on the stack."""
        position, stacked = self._position, self._stacked
        for index in indices:
            if index <= position and not stacked[index]:
                stacked[index] = 1
                self._stack.append(index)

    def take(self, visited: int, readers: Iterable[int], dependents: Iterable[tuple[int, ...]]) -> None:
        """Marks the readers of an update dirty, and pushes what depends on it but the visited operation."""
        dirty = self._dirty
        for reader in readers:
            dirty[reader] = 1
        position, stacked, stack = self._position, self._stacked, self._stack
        for indices in dependents:
            if indices[0] != visited:
                for index in indices:
                    if index <= position and not stacked[index]:
                        stacked[index] = 1
                        stack.append(index)

    def visits(self) -> Iterator[int]:
        """The operations to visit in one round, each no longer dirty; what is pushed meanwhile included."""
        stack, stacked, dirty, count = self._stack, self._stacked, self._dirty, self._op_count
        position = self._position = -1
        while position < count:
            while stack:
                index = stack.pop()
                stacked[index] = 0
                if dirty[index]:
                    dirty[index] = 0
                    yield index
            index = dirty.find(1, position + 1, count)
            position = self._position = count if index < 0 else index
            if index >= 0:
                dirty[index] = 0
                yield index

    def dirty_results(self) -> Iterator[int]:
        """The dirty results, in order; each is no longer dirty when it is yielded."""
        dirty = self._dirty
        index = dirty.find(1, self._op_count)
        while index >= 0:
            dirty[index] = 0
            yield index
            index = dirty.find(1, index + 1)


class OpCategory(Enum):
    """The category of an operation, which determines in which rounds and directions it propagates."""

    PASS_THROUGH = auto()
    # dynamic_slice and dynamic_update_slice.
    DYNAMIC_SLICE = auto()
    BROADCAST = auto()
    OTHER = auto()
    # Barriers, by their allowed direction.
    BARRIER_FORWARD = auto()
    BARRIER_BACKWARD = auto()
    BARRIER_NONE = auto()

    # Members are compared by identity; the default hash of enumerations is slow.
    __hash__ = object.__hash__


class Round(NamedTuple):
    """A direction policy for each category of operations; those with None do not propagate.

    Operations of the `single_use_categories` propagate only if no operand but a scalar has another use, which
    could need another sharding. `number` is the position among the rounds by op priority, from 1; 0 if rounds
    are not by op priority.
    """

    policies: dict[OpCategory, DirectionPolicy | None]
    single_use_categories: frozenset[OpCategory] = frozenset()
    number: int = 0


def _round(
    dynamic_slice: DirectionPolicy,
    broadcast: DirectionPolicy | None,
    other: DirectionPolicy | None,
    single_use_categories: frozenset[OpCategory] = frozenset(),
) -> Round:
    policies = {
        OpCategory.PASS_THROUGH: DirectionPolicy.BOTH,
        OpCategory.DYNAMIC_SLICE: dynamic_slice,
        OpCategory.BROADCAST: broadcast,
        OpCategory.OTHER: other,
        OpCategory.BARRIER_FORWARD: DirectionPolicy.FORWARD,
        OpCategory.BARRIER_BACKWARD: DirectionPolicy.BACKWARD,
        OpCategory.BARRIER_NONE: None,
    }
    return Round(policies, single_use_categories)


ALL_OPS = _round(DirectionPolicy.BOTH, DirectionPolicy.BOTH, DirectionPolicy.BOTH)

# The manual of `sdy-op-priority-propagate` describes these rounds.
OP_PRIORITY_ROUNDS = tuple(
    [
        round._replace(number=number)
        for number, round in enumerate(
            (
                _round(
                    *(DirectionPolicy.FORWARD, None, None),
                    single_use_categories=frozenset({OpCategory.PASS_THROUGH, OpCategory.DYNAMIC_SLICE}),
                ),
                _round(DirectionPolicy.FORWARD, None, None),
                _round(
                    DirectionPolicy.PASS_THROUGH_BOTH_ELSE_FORWARD,
                    DirectionPolicy.PASS_THROUGH_BACKWARD,
                    DirectionPolicy.PASS_THROUGH_BOTH,
                ),
                _round(DirectionPolicy.BOTH, DirectionPolicy.BACKWARD, DirectionPolicy.BOTH),
                ALL_OPS,
            ),
            start=1,
        )
    ]
)
