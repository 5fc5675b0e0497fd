"""rng_bit_generator: every device generates all numbers, and slices them to its shard.

So the numbers do not depend on the sharding. The state is whole on every device, before and after.
"""

from __future__ import annotations

from sdyopt.dialects.stablehlo.random import RngBitGeneratorOp
from sdyopt.partition.local_context import LocalContext
from sdyopt.partition.registry import Lowered, lowering


@lowering(RngBitGeneratorOp)
def lower_rng_bit_generator(op: RngBitGeneratorOp, local: LocalContext) -> Lowered:
    """Slices the numbers that are generated for the whole shape."""
    if any(local.axes_per_dim(op.initial_state)) or any(local.axes_per_dim(op.output_state)):
        raise op.op_error("the state is sharded, and every device needs all of it")
    axes_per_dim = local.axes_per_dim(op.output)
    if not any(axes_per_dim):
        return None
    builder = local.builder(op)
    attributes = dict(op.signature.attributes)
    state, bits = builder.create(
        RngBitGeneratorOp, [op.initial_state], op.signature.result_types, attributes
    ).results
    mesh, type = local.common_mesh(op), local.local_tensor(op.output, op)
    return [state, local.slice_for_axes(builder, bits, axes_per_dim, mesh, type)]
