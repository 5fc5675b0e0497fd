"""The collectives that a product needs, and the products that a collective may run beside."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from sdyopt.analysis.figures import collective_traffic
from sdyopt.analysis.figures.causes import is_repeated_exchange
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, functions_in
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp, TransposeOp
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpResult, Value

COLLECTIVES: tuple[type[Op], ...] = (CollectiveOp, *collective_traffic.COLLECTIVES)
_REDUCTIONS = (
    AllReduceOp,
    ReduceScatterOp,
    stablehlo.AllReduceOp,
    stablehlo.CrossReplicaSumOp,
    stablehlo.ReduceScatterOp,
)
# Operations that may be between a collective and a product: they compute no new values from the elements.
_RELAYOUTS = (ConvertOp, ReshapeOp, TransposeOp)


def counted_collectives(module: Op) -> list[Op]:
    """The collectives of a module as reports count them."""
    keys: set[Hashable] = set()
    ops = _reached(module, [op for op in module.walk() if isinstance(op, COLLECTIVES)])
    return [op for op in ops if not is_repeated_exchange(op, keys)]


def counted_products(module: Op) -> list[Op]:
    """The products of a module as reports count them."""
    return _reached(module, [op for op in module.walk() if type(op) in FLOPS])


def _reached(module: Op, ops: list[Op]) -> list[Op]:
    if len(functions_in(module)) > 1 and (unreached := ExecutionCounts(module).unreached):
        return [op for op in ops if op.parent_of_type(FuncOp) not in unreached]
    return ops


class CollectivesAround:
    """The collectives around products. Those behind a value are found once for all products."""

    def __init__(self) -> None:
        self._reductions: dict[Value, frozenset[Op]] = {}

    def of(self, product: Op) -> set[Op]:
        """The collectives on the operands of a product, and the reductions of its result."""
        before = {op for operand in product.operands for op in _before(operand)}
        return before | self._reductions_of(product.results[0])

    def _reductions_of(self, result: Value) -> frozenset[Op]:
        """The reductions of a partial result, directly or after relayouts, sums and other reductions."""
        pending: list[tuple[Value, list[Op] | None]] = [(result, None)]
        while pending:
            value, passed = pending.pop()
            if passed is not None:
                direct: frozenset[Op] = frozenset(
                    user for user in value.users if isinstance(user, _REDUCTIONS)
                )
                parts = [direct, *(self._reductions[user.results[0]] for user in passed)]
                distinct = [part for part in dict.fromkeys(parts) if part]
                self._reductions[value] = (
                    distinct[0] if len(distinct) == 1 else frozenset[Op]().union(*distinct)
                )
            elif value not in self._reductions:
                # Nothing yet, in case a region without dominance has a cycle.
                self._reductions[value] = frozenset()
                passed = [user for user in value.users if isinstance(user, _passed_by(value))]
                pending.append((value, passed))
                pending += [(user.results[0], None) for user in passed]
        return self._reductions[result]


def _passed_by(value: Value) -> tuple[type[Op], ...]:
    """The operations with partial results if a value is one: no sums, if it is reduced already."""
    is_reduced = isinstance(value, OpResult) and isinstance(value.op, _REDUCTIONS)
    return (*_REDUCTIONS, *_RELAYOUTS, *(() if is_reduced else (AddOp,)))


def _before(value: Value) -> Iterator[Op]:
    """The collectives, except reductions, in the chain of collectives and relayouts that ends in a value."""
    while isinstance(value, OpResult) and isinstance(value.op, (*COLLECTIVES, *_RELAYOUTS)):
        # A reduction belongs to the product whose partial result it reduces.
        if isinstance(value.op, COLLECTIVES) and not isinstance(value.op, _REDUCTIONS):
            yield value.op
        value = value.op.operand_at(0)


def independent_products(collective: Op, products: Sequence[Op]) -> list[int]:
    """The numbers of the products in the block of a collective, and in its regions, that are independent."""
    block = collective.parent
    if not isinstance(block, Block):
        return []
    dependent = _reached_products(collective, _ops_before) | _reached_products(collective, _after)
    result = []
    for number, item in enumerate(products):
        op = _in_block(item, block)
        if op is not None and op not in dependent:
            result.append(number)
    return result


def _reached_products(start: Op, neighbors: Callable[[Op], Iterator[Op]]) -> set[Op]:
    """The operations of a block that are reached, with the first."""
    reached, pending = {start}, [start]
    while pending:
        for op in neighbors(pending.pop()):
            if op not in reached:
                reached.add(op)
                pending.append(op)
    return reached


def _ops_before(op: Op) -> Iterator[Op]:
    """The operations of the same block whose results an operation uses, also in its regions."""
    block = op.parent
    for inner in op.walk() if op.regions else (op,):
        for operand in inner.operands:
            if (definition := operand.defining_op) is not None and definition.parent is block:
                yield definition


def _after(op: Op) -> Iterator[Op]:
    """The operations of the same block that use results of an operation, also in their regions."""
    assert isinstance(op.parent, Block)
    for result in op.results:
        for user in result.users:
            if (outer := _in_block(user, op.parent)) is not None:
                yield outer


def _in_block(op: Op, block: Block) -> Op | None:
    """The operation of a block that is, or contains, another one."""
    if op.parent is block:
        return op
    return next((parent for parent in op.ancestors() if parent.parent is block), None)
