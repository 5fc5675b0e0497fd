"""The namespace `mesh` in the form of LLVM 19, and the table that fills it in."""

from sdyopt.ir.dialect import Dialect

mesh = Dialect("mesh")
mesh.unknown_type = "dialect '{dialect}' provides no type parsing hook"
