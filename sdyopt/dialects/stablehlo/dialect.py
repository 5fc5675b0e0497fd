"""The dialect stablehlo: its table, which the modules beside this one fill."""

from sdyopt.ir.dialect import Dialect

stablehlo = Dialect("stablehlo")
stablehlo.is_inlinable = True
stablehlo.unknown_attribute = "unknown StableHLO attribute"
stablehlo.unknown_type = "unknown stablehlo type: {mnemonic}"
