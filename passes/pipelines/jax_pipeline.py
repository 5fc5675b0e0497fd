"""The pipeline that stands for what becomes of a program of JAX."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.pipeline import Pass, Pipeline
from sdyopt.mlir.registry import register_pipeline

from ..common.cse import CSE
from ..importing.inline_unsharded_calls import InlineUnshardedCalls
from ..partitioning.add_elementwise_sharding_rules import AddElementwiseShardingRules
from .propagation_pipeline import propagation_pipeline


@register_pipeline("sdy-jax-pipeline")
def jax_pipeline() -> Sequence[Pass | Pipeline]:
    """sdy-jax-pipeline: propagate as XLA does for a program of JAX, and insert collectives.

    Without passes on the command line, reports, comparisons, explanations, lint and budgets run this.
    It is `sdy-propagation-pipeline` with `enable-insert-explicit-collectives`, after what XLA does
    before it runs Shardy: `sdy-inline-unsharded-calls`, `cse`, which also removes dead operations, and
    `sdy-add-elementwise-sharding-rules` in place of XLA's lowering of chlo, through which shardings then
    propagate. Another `cse` merges equal collectives, as XLA does after it has partitioned a program.

    Shardy's own pipeline has none of this: calls are cloned for each use, and propagation stops at chlo.
    """
    return [
        InlineUnshardedCalls(),
        CSE(),
        AddElementwiseShardingRules(),
        *propagation_pipeline(enable_insert_explicit_collectives=True),
        CSE(),
    ]
