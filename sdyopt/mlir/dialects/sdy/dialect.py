"""The sdy dialect, in which the other modules of this package register operations and attributes."""

from sdyopt.mlir.ir.dialect import Dialect

sdy = Dialect("sdy")
sdy.is_inlinable = True
