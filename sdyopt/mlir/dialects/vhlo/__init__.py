"""VHLO: StableHLO in versions, which portable artifacts contain.

An operation, attribute or type has the version of StableHLO in which it appeared and, if a newer form
replaced it, the last version that has it. `types` and `attributes` wrap those of builtin and StableHLO, `ops`
is the table of operations, and `conversion` converts attributes and types. `to_vhlo`, `from_vhlo` and
`to_version` convert programs; `defaults` has the attributes that only StableHLO leaves out.
"""

from sdyopt.mlir.dialects.vhlo import attributes, conversion, ops, types
from sdyopt.mlir.dialects.vhlo.types import vhlo

DIALECT = vhlo

__all__ = ["DIALECT", "attributes", "conversion", "ops", "types"]
