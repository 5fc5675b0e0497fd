"""The dialect mhlo, of which programs from JAX contain attributes such as `mhlo.num_partitions`.

They stand on operations, arguments and results, and hold builtin attributes only. Operations of this
dialect, from which stablehlo once sprang, are no longer made by anybody.
"""

from sdyopt.ir.dialect import Dialect

mhlo = DIALECT = Dialect("mhlo")
