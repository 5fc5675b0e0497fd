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

    %0 = stablehlo.scatter(%zeros, %i, %u), which adds one element to each row : tensor<8x64xf32>
becomes
    %0 = stablehlo.compare EQ of %i and an iota along the rows : tensor<8x64xi1>
    %1 = stablehlo.select %0, %u, %zeros : tensor<8x64xf32>
with `compiler=tpu`: the gradient of `jnp.take_along_axis(x, i[:, None], 1)`, such as of the loss of a
language model. Shardy propagates through elementwise operations first, and through a scatter later.

XLA for the CPU does the first two of the last three only after it has partitioned a program, so they are left
out with `compiler=cpu`.
"""

from __future__ import annotations

from math import prod

from sdyopt.base.compilers import CompilerBehavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.stablehlo.compare_select import CompareOp, ComparisonDirection, SelectOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MulOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.builtin_attributes import dense_array, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I1, I64, tensor
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
        selects = CompilerBehavior.SELECTS_IN_ROWS.holds(self.compiler)
        for op in module.nested(AddOp, BroadcastInDimOp, DotGeneralOp, ScatterOp, SelectOp):
            if isinstance(op, AddOp):
                if adds:
                    _add_in_scatter(op, rewriter)
            elif isinstance(op, DotGeneralOp):
                if multiplies and _is_multiplication(op):
                    _multiply(op, rewriter)
            elif isinstance(op, ScatterOp):
                if selects:
                    _select_in_rows(op, rewriter)
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
        if not value.has_one_use or other.type is not value.type or not _adds_to_zeros(scatter):
            continue
        rewriter.move(scatter, before=op)
        rewriter.set_operands(scatter, [other, *scatter.operands[1:]])
        replace_with_value(op, value, rewriter)
        return


def _adds_to_zeros(op: ScatterOp) -> bool:
    if len(op.inputs) != 1 or binary_body(op.update_computation, 0) is not AddOp:
        return False
    zeros = _element(op.inputs[0])
    return zeros is not None and not any(zeros)


def _select_in_rows(op: ScatterOp, rewriter: Rewriter) -> None:
    """Replaces a scatter that adds one element to each row of zeros, in place of which the indices say."""
    if op.attributes or not _adds_to_zeros(op):
        return
    numbers, type = op.scatter_dimension_numbers, ranked(op.inputs[0])
    rows, placed = numbers.input_batching_dims, numbers.scatter_indices_batching_dims
    if not rows or len(rows) != type.rank - 1 or numbers.update_window_dims:
        return
    sizes = [type.shape[dim] for dim in rows]
    updates = ranked(op.updates[0])
    is_static = type.has_static_shape and updates.has_static_shape
    if not is_static or updates.num_elements != prod(sizes):
        return
    order = sorted(range(len(rows)), key=placed.__getitem__)
    ordered = tuple([sizes[row] for row in order])

    def in_rows(value: Value) -> Value:
        """The elements of the indices or updates, each in the whole of its row."""
        element = ranked(value).element
        flat = new_value(op, ReshapeOp, [value], tensor(ordered, element), rewriter)
        dims = {"broadcast_dimensions": dense_array(I64, [rows[row] for row in order])}
        return new_value(op, BroadcastInDimOp, [flat], tensor(type.shape, element), rewriter, dims)

    (column,) = set(range(type.rank)) - set(rows)
    indices = in_rows(op.scatter_indices)
    along = {"iota_dimension": integer(column, I64)}
    iota = new_value(op, IotaOp, [], indices.type, rewriter, along)
    equal = {"comparison_direction": ComparisonDirection("EQ")}
    mask = new_value(op, CompareOp, [indices, iota], tensor(type.shape, I1), rewriter, equal)
    replace_with_new(op, SelectOp, [mask, in_rows(op.updates[0]), op.inputs[0]], rewriter)


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
