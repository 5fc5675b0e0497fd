"""Names of the attributes by which sdy speaks about operations of any dialect."""

# How the results of an operation, or one argument or result of a function, are sharded.
SHARDING = "sdy.sharding"
# How an operation can be partitioned.
SHARDING_RULE = "sdy.sharding_rule"
# Which sharding of an operation came from which, step by step.
PROPAGATION_EDGES = "sdy.propagation_edges"
RESULT_PROPAGATION_EDGES = "sdy.result_propagation_edges"
BLOCK_ARGUMENT_PROPAGATION_EDGES = "sdy.block_arg_propagation_edges"
# Which constraint, input or output an axis of a sharding comes from, and what such an origin is called.
ORIGINS = "sdy.sharding_origins"
RESULT_ORIGINS = "sdy.result_sharding_origins"
BLOCK_ARGUMENT_ORIGINS = "sdy.block_arg_sharding_origins"
ORIGIN_NAME = "sdy.sharding_origin_name"
# In which of a machine's threads of work a function runs.
EXECUTION_THREAD = "execution_thread"
# Along which axes the calls of a function were manual; it stays apart from functions for which they differ.
FUNCTION_MANUAL_AXES = "sdy.func_manual_axes"
