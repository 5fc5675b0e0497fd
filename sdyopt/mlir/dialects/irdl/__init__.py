"""The irdl dialect: definitions of dialects, which `--irdl-file` loads."""

from sdyopt.mlir.dialects.irdl import definitions
from sdyopt.mlir.dialects.irdl.constraints import irdl

DIALECT = irdl

__all__ = ["DIALECT", "definitions"]
