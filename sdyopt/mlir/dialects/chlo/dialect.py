"""The chlo dialect object; the other modules register operations and attributes with it."""

from sdyopt.mlir.ir.dialect import Dialect

chlo = Dialect("chlo")
chlo.unknown_attribute = "unknown chlo attribute"
chlo.is_inlinable = True
