"""The chlo dialect object, in which the modules of this package register their operations."""

from sdyopt.ir.dialect import Dialect

chlo = Dialect("chlo")
chlo.unknown_attribute = "unknown chlo attribute"
chlo.is_inlinable = True
