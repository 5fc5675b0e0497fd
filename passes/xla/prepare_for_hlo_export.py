"""stablehlo-ext-prepare-for-hlo-export: replace what HLO has no form for.

    %c = stablehlo.constant dense<1.0> : tensor<64xf32>
becomes
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<64xf32>

That is for constants with one value in at least 32 elements. The broadcast has the `mhlo.sharding` of the
constant. A broadcast whose dimensions are not sorted becomes a transpose and a broadcast. Bodies of
reductions, scatters and sorts get copies of the constants that they use: a computation of HLO has no free
variables.

XLA runs this before propagation, so that shardings propagate through the operations that HLO will have.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.stablehlo.collectives import AllReduceOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp, SortOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp, SelectAndScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, TransposeOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense_array
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor
from sdyopt.mlir.ir.value import OpOperand
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.notation.hlo_programs import XLA_SHARDING

_SMALL = 32
_WITH_BODIES = (
    ReduceOp,
    AllReduceOp,
    ReduceScatterOp,
    ReduceWindowOp,
    ScatterOp,
    SelectAndScatterOp,
    SortOp,
)


@register("stablehlo-ext-prepare-for-hlo-export")
class PrepareForHloExport(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        for op in list(function.walk_post_order()):
            if isinstance(op, ConstantOp):
                _broadcast_splat(op, rewriter)
            elif isinstance(op, BroadcastInDimOp):
                _sort_dimensions(op, rewriter)
            elif isinstance(op, _WITH_BODIES):
                for region in op.regions:
                    first = region.blocks[0].first
                    copies: dict[Op, Op] = {}
                    for use in [use for child in region.blocks[0].ops for use in _uses_in(child)]:
                        constant = use.value.defining_op
                        if constant is None or op.is_ancestor(constant):
                            continue
                        if constant not in copies and isinstance(constant_value(constant), DenseElements):
                            copies[constant] = rewriter.clone(constant)
                            rewriter.insert(copies[constant], before=first)
                        if constant in copies:
                            rewriter.set_operand(use, copies[constant].results[0])
        return rewriter.changed


def _broadcast_splat(op: ConstantOp, rewriter: Rewriter) -> None:
    value, type = op.value, op.output.type
    if not isinstance(value, DenseElements) or not value.is_splat or not isinstance(type, RankedTensor):
        return
    if value.type.num_elements < _SMALL:
        return
    scalar = RankedTensor((), type.element)
    location = op.lazy_location
    constant = rewriter.create(
        ConstantOp, (), [scalar], {"value": DenseElements(scalar, value.data)}, before=op, location=location
    )
    attributes = {"broadcast_dimensions": dense_array(I64, ())}
    sharding = op.attributes.get(XLA_SHARDING)
    broadcast = rewriter.create(
        BroadcastInDimOp,
        constant.results,
        [type],
        attributes if sharding is None else {**attributes, XLA_SHARDING: sharding},
        before=op,
        location=location,
    )
    rewriter.replace(op, broadcast)


def _sort_dimensions(op: BroadcastInDimOp, rewriter: Rewriter) -> None:
    dims = list(op.broadcast_dimensions)
    operand = op.operand.type
    if dims == sorted(dims) or not isinstance(operand, RankedTensor):
        return
    order = sorted(range(len(dims)), key=lambda index: dims[index])
    transpose = rewriter.create(
        TransposeOp,
        [op.operand],
        [RankedTensor(tuple([operand.shape[index] for index in order]), operand.element)],
        {"permutation": dense_array(I64, order)},
        before=op,
        location=op.lazy_location,
    )
    rewriter.set_operand(op.operand_uses[0], transpose.results[0])
    rewriter.set_attribute(op, "broadcast_dimensions", dense_array(I64, sorted(dims)))


def _uses_in(op: Op) -> Iterator[OpOperand]:
    """The operands of an operation and of all in its regions, these first."""
    for inner in op.walk_post_order():
        yield from inner.operand_uses
