"""sdy-simplify-hlo: simplify what XLA simplifies before it propagates shardings.

    %0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
becomes
    %0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<1x8x4xf32>

JAX adds dimensions of size 1 by such broadcasts, for example to append to the stack of what a scan carries.
Shardy propagates through reshapes first, and through broadcasts later, so the shardings of the stacks may
depend on it.

    %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
    %1 = stablehlo.select %p, %0, %0 : tensor<8xi1>, tensor<8xf32>
becomes %0, also if both values are constants, or broadcasts of constants, with the same elements. The
derivative of `jnp.zeros(…).at[i].set(x)` has such a select of a scatter, which otherwise shards that of `x`.

    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [] x []
        : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x4x2xf32>
becomes a multiplication of broadcasts of `%a` and `%b`. The gradient of a weighted sum is such a product, and
is sharded as the elementwise operations around it are.

    %0 = stablehlo.scatter(%zeros, %i, %u), which adds : tensor<8xf32>
    %1 = stablehlo.add %a, %0 : tensor<8xf32>
becomes
    %1 = stablehlo.scatter(%a, %i, %u) : tensor<8xf32>

if nothing else uses the scatter: the gradient of an embedding whose table is used elsewhere, too, such as for
logits. The other term is then resharded for the scatter.

XLA for the CPU does the last two only after it has partitioned a program, so they are left out with
`compiler=cpu`.
"""

from __future__ import annotations

from sdyopt.base.compilers import CompilerBehavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.compare_select import SelectOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MulOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.combiners import binary_body

from ..stablehlo.support.folds import splat_of
from ..stablehlo.support.replacement import new_value, replace_with_new, replace_with_value
from ..stablehlo.support.shape_simplifications import is_reshape


@register("sdy-simplify-hlo")
class SimplifyHlo(Pass):
    compiler: str = option(
        default="",
        help="compiler whose simplifications these are: tpu, gpu or cpu; default: those of tpu and gpu",
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        adds = CompilerBehavior.SUMS_IN_SCATTERS.holds(self.compiler)
        multiplies = CompilerBehavior.MULTIPLIES_OUTER.holds(self.compiler)
        for op in module.nested(AddOp, BroadcastInDimOp, DotGeneralOp, SelectOp):
            if isinstance(op, AddOp):
                if adds:
                    _add_in_scatter(op, rewriter)
            elif isinstance(op, DotGeneralOp):
                if multiplies and _is_multiplication(op):
                    _multiply(op, rewriter)
            elif isinstance(op, SelectOp):
                if _selects_nothing(op):
                    replace_with_value(op, op.on_true, rewriter)
            else:
                _reshape(op, rewriter)
        return rewriter.changed


def _reshape(op: Op | None, rewriter: Rewriter) -> None:
    """Replaces a broadcast that adds dimensions of size 1 only."""
    if op is not None and op.signature.cached(is_reshape):
        replace_with_new(op, ReshapeOp, op.operands, rewriter)


def _is_multiplication(op: DotGeneralOp) -> bool:
    """Whether a product of static tensors sums up nothing, and computes in the type of its operands."""
    types = [ranked(value) for value in (op.lhs, op.rhs, op.out)]
    return (
        not op.dot_dimension_numbers.lhs_contracting_dimensions
        and op.algorithm is None
        and len({type.element for type in types}) == 1
        and all(type.has_static_shape for type in types)
    )


def _multiply(op: DotGeneralOp, rewriter: Rewriter) -> None:
    """Replaces a product by a multiplication. The batch comes first, then the dimensions of each operand."""
    dims, batch = op.dot_dimension_numbers, len(op.dot_dimension_numbers.lhs_batching_dimensions)
    operands = []
    sides = ((op.lhs, dims.lhs_batching_dimensions), (op.rhs, dims.rhs_batching_dimensions))
    first = batch
    for value, batching in sides:
        type = ranked(value)
        free = [dim for dim in range(type.rank) if dim not in batching]
        placed = {dim: number for number, dim in enumerate(batching)}
        placed |= {dim: number for number, dim in enumerate(free, first)}
        first += len(free)
        attributes = {"broadcast_dimensions": dense_array(I64, [placed[dim] for dim in range(type.rank)])}
        operands.append(new_value(op, BroadcastInDimOp, [value], op.out.type, rewriter, attributes))
    replace_with_new(op, MulOp, operands, rewriter)
    for operand in operands:
        _reshape(operand.defining_op, rewriter)


def _add_in_scatter(op: AddOp, rewriter: Rewriter) -> None:
    """Lets a scatter that adds updates to zeros add them to the other term of a sum without attributes."""
    if op.attributes:
        return
    for value, other in (op.lhs, op.rhs), (op.rhs, op.lhs):
        scatter = value.defining_op
        if not isinstance(scatter, ScatterOp) or scatter.parent is not op.parent or scatter.attributes:
            continue
        if len(scatter.inputs) != 1 or not value.has_one_use or other.type is not value.type:
            continue
        zeros = _element(scatter.inputs[0])
        if zeros is None or any(zeros) or binary_body(scatter.update_computation, 0) is not AddOp:
            continue
        rewriter.move(scatter, before=op)
        rewriter.set_operands(scatter, [other, *scatter.operands[1:]])
        replace_with_value(op, value, rewriter)
        return


def _selects_nothing(op: SelectOp) -> bool:
    """Whether both values of a select are equal, and it has no attribute, such as a sharding."""
    if op.attributes:
        return False
    element = _element(op.on_true)
    return op.on_true is op.on_false or (element is not None and element == _element(op.on_false))


def _element(value: Value) -> bytes | None:
    """The element of a constant, or of a broadcast of one, to which all others are equal."""
    op = value.defining_op
    if isinstance(op, BroadcastInDimOp):
        return _element(op.operand)
    splat = splat_of(value)
    return None if splat is None else splat.data
