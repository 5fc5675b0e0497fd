"""The quant dialect object."""

from sdyopt.mlir.ir.dialect import Dialect

quant = Dialect("quant")
quant.unknown_type = "unknown quantized type {mnemonic}"
