"""Partitioning by operation: lowerings, crossings, halos and padding. Every module registers functions."""

import os
from importlib import import_module

for _name in sorted(file.name for file in os.scandir(__path__[0])):
    if _name.endswith(".py") and _name != "__init__.py":
        import_module(f"{__name__}.{_name[:-3]}")
