"""reduce: partial results, of which only one may include an initial value such as that of a sum."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.ir.types import I1, tensor
from sdyopt.shardy.partition.combiners import binary_body
from sdyopt.shardy.partition.identities import COUNTS_EACH, identity_of, is_identity
from sdyopt.shardy.partition.local_builder import ranked
from sdyopt.shardy.partition.local_context import LocalContext, first_shard_table
from sdyopt.shardy.partition.reduced_axes import is_combined_by_none
from sdyopt.shardy.partition.registry import Lowered, lowering


@lowering(ReduceOp)
def lower_reduce(op: ReduceOp, local: LocalContext) -> Lowered:
    """Initial values that may count only once, as in a sum, count on the first device of each group only.

    On the others, the identity takes their place. Nothing changes if they are the identity, as they usually
    are.
    """
    axes_per_dim = local.axes_per_dim(op.inputs[0])
    axes = tuple([axis for dim in op.dimensions for axis in axes_per_dim[dim]])
    if not axes:
        return None
    is_combined_by_none(op, axes, local.common_mesh(op), local)
    inits = list(op.init_values)
    for index, init in enumerate(inits):
        combiner, element = binary_body(op.body, index), ranked(init).element
        if combiner not in COUNTS_EACH or is_identity(combiner, init):
            continue
        identity = identity_of(combiner, element)
        assert identity is not None
        builder, mesh = local.builder(op), local.common_mesh(op)
        is_first = builder.reshape(local.lookup(builder, first_shard_table(axes, mesh, op), I1), ())
        inits[index] = builder.select(is_first, init, builder.splat(tensor((), element), identity))
    if inits != list(op.init_values):
        local.rewriter.set_operands(op, [*op.inputs, *inits])
    return None
