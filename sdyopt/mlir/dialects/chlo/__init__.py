"""The chlo dialect. Importing this package imports all its modules, which register the operations."""

import os
from importlib import import_module

from sdyopt.mlir.dialects.chlo.elementwise import chlo

DIALECT = chlo

for _name in sorted(file.name for file in os.scandir(__path__[0])):
    if _name.endswith(".py") and _name != "__init__.py":
        import_module(f"{__name__}.{_name[:-3]}")
