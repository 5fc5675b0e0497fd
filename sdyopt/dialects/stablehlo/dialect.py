"""The stablehlo dialect object, with which the other modules of this package register their parts."""

from sdyopt.ir.dialect import Dialect

stablehlo = Dialect("stablehlo")
stablehlo.is_inlinable = True
stablehlo.unknown_attribute = "unknown StableHLO attribute"
stablehlo.unknown_type = "unknown stablehlo type: {mnemonic}"
