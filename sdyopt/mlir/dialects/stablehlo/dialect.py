"""The stablehlo dialect object; the other modules register operations, attributes and types with it."""

from sdyopt.mlir.ir.dialect import Dialect

stablehlo = Dialect("stablehlo")
stablehlo.is_inlinable = True
stablehlo.unknown_attribute = "unknown StableHLO attribute"
stablehlo.unknown_type = "unknown stablehlo type: {mnemonic}"
