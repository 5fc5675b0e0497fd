"""The sdy dialect object, and the discardable attributes that sdy and its passes use on operations."""

from sdyopt.mlir.ir.dialect import Dialect

sdy = Dialect("sdy")
sdy.is_inlinable = True


# The shardings of an operation's results, or the sharding of a function argument or result.
SHARDING = "sdy.sharding"
# The sharding rule of an operation.
SHARDING_RULE = "sdy.sharding_rule"
# The propagation steps that changed shardings of an operation.
PROPAGATION_EDGES = "sdy.propagation_edges"
RESULT_PROPAGATION_EDGES = "sdy.result_propagation_edges"
BLOCK_ARGUMENT_PROPAGATION_EDGES = "sdy.block_arg_propagation_edges"
# For each axis of a sharding, the constraint, input or output that it originates from.
ORIGINS = "sdy.sharding_origins"
RESULT_ORIGINS = "sdy.result_sharding_origins"
BLOCK_ARGUMENT_ORIGINS = "sdy.block_arg_sharding_origins"
# The name by which origins refer to an operation.
ORIGIN_NAME = "sdy.sharding_origin_name"
# The execution thread of a function, such as the host's.
EXECUTION_THREAD = "execution_thread"
# The manual axes of the calls of a function.
FUNCTION_MANUAL_AXES = "sdy.func_manual_axes"
# The name of the operation that a manual computation of the partitioner replaces.
REPLACES = "sdy.replaces"
