"""The dialect sdy: its table, which the modules beside this one fill."""

from sdyopt.ir.dialect import Dialect

sdy = Dialect("sdy")
sdy.is_inlinable = True
