"""The collectives that a product needs: those on its operands, and the reductions of its result."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from sdyopt.analysis.figures import stablehlo_collectives
from sdyopt.analysis.figures.causes import is_repeated_exchange
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, functions_in
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.conversion import ConvertOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp, TransposeOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpResult, Value

COLLECTIVES: tuple[type[Op], ...] = (CollectiveOp, *stablehlo_collectives.COLLECTIVES)
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


def collectives_around(product: Op) -> Iterator[Op]:
    """The collectives on the operands of a product, and the reductions of its result, each once."""
    ops: dict[Op, None] = {}
    for operand in product.operands:
        ops.update(dict.fromkeys(_before(operand)))
    ops.update(dict.fromkeys(_reductions_of(product.results[0])))
    yield from ops


def _before(value: Value) -> Iterator[Op]:
    """The collectives, except reductions, in the chain of collectives and relayouts that ends in a value."""
    while isinstance(value, OpResult) and isinstance(value.op, (*COLLECTIVES, *_RELAYOUTS)):
        # A reduction belongs to the product whose partial result it reduces.
        if isinstance(value.op, COLLECTIVES) and not isinstance(value.op, _REDUCTIONS):
            yield value.op
        value = value.op.operand_at(0)


def _reductions_of(result: Value) -> Iterator[Op]:
    """The reductions of a partial result, directly or after relayouts, sums and other reductions."""
    pending, visited = [result], {result}
    while pending:
        value = pending.pop()
        # A sum of what is reduced already is no partial result.
        is_reduced = isinstance(value, OpResult) and isinstance(value.op, _REDUCTIONS)
        passed = (*_REDUCTIONS, *_RELAYOUTS, *(() if is_reduced else (AddOp,)))
        for user in value.users:
            if isinstance(user, _REDUCTIONS):
                yield user
            if isinstance(user, passed) and user.results[0] not in visited:
                visited.add(user.results[0])
                pending.append(user.results[0])
