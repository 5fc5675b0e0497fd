"""The dialect chlo: its table, which the modules beside this one fill."""

from sdyopt.ir.dialect import Dialect

chlo = Dialect("chlo")
chlo.unknown_attribute = "unknown chlo attribute"
chlo.is_inlinable = True
