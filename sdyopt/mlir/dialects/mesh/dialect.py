"""The mesh dialect object of LLVM 19; the modules beside this one register their operations in it."""

from sdyopt.mlir.ir.dialect import Dialect

mesh = Dialect("mesh")
mesh.unknown_type = "dialect '{dialect}' provides no type parsing hook"
