"""The mhlo dialect: the predecessor of StableHLO, which XLA writes in its dumps.

Programs from JAX have discardable attributes such as `mhlo.num_partitions`, which `dialect.py` verifies. The
operations, attributes and types are imported when a program uses one of them.
"""

from sdyopt.mlir.dialects.mhlo.dialect import mhlo

DIALECT = mhlo
