"""The dialect stablehlo: its table, which the modules beside this one fill."""

from sdyopt.ir.dialect import Dialect

stablehlo = Dialect("stablehlo")
