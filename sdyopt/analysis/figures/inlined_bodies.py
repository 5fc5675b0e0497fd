"""A program whose manual computations are inlined, as compilers have it when they assign memory.

    program = inlined(module)
    program.module                     # a copy
    program.restore(peak)              # the peak names the operations and values of the program again

What a shard_map saves for its gradient are results of a manual computation. Compilers see no boundary there:
they compute much of it again. In place of the boundary stand reshapes, which cost nothing; the local type and
the sharded one have the same number of elements on a device.
"""

from __future__ import annotations

from sdyopt.analysis.figures.peak_memory import Peak
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import Value


class Inlined(NamedTuple):
    """A copy of a program, and what its operations and values stand for."""

    module: Op
    ops: dict[Op, Op]
    values: dict[Value, Value]

    def restore(self, peak: Peak) -> None:
        """Names operations and values of the program in a peak, and in those that are nested in it."""
        peak.op = None if peak.op is None else self.ops.get(peak.op, peak.op)
        for buffer in (*peak.live, *peak.buffers):
            buffer.value = self.values.get(buffer.value, buffer.value)
        peak.curve = [(self.ops.get(op, op), size) for op, size in peak.curve]
        nested = [] if peak.nested is None else [peak.nested]
        for inner in {id(one): one for one in (*peak.inner.values(), *nested)}.values():
            self.restore(inner)


def inlined(module: Op) -> Inlined:
    """A copy of a program without manual computations."""
    rewriter, copies = Rewriter(), dict[Value, Value]()
    copy = rewriter.clone(module, copies)
    ops = dict(zip(copy.walk(), module.walk(), strict=True))
    values = {value: original for original, value in copies.items()}

    def view(value: Value, type: Type, sharding: TensorSharding | None, shown: Value, before: Op) -> Value:
        attributes: dict[str, Attribute] = {}
        if sharding is not None:
            attributes[SHARDING] = ShardingPerValue((sharding,))
        op = rewriter.create(
            ReshapeOp, [value], [type], attributes, before=before, location=before.lazy_location
        )
        ops[op], values[op.results[0]] = ops[before], shown
        return op.results[0]

    for computation in [op for op in copy.walk() if isinstance(op, ManualComputationOp)]:
        block, end = computation.block, computation.block.last
        for argument, use in zip(list(block.arguments), computation.operand_uses, strict=True):
            sharding = computation.argument_sharding(use.index)
            inside = view(use.value, argument.type, sharding, values[argument], computation)
            rewriter.replace_all_uses(argument, inside)
        for op in list(block.ops):
            if op is not end:
                rewriter.move(op, before=computation)
        results = [
            view(value, result.type, computation.result_sharding(result.index), values[result], computation)
            for value, result in zip([] if end is None else end.operands, computation.results, strict=True)
        ]
        rewriter.replace(computation, results)
    return Inlined(copy, ops, values)
