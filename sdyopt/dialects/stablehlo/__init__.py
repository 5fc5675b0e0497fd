"""The dialect stablehlo. Every module beside this one adds its operations when it is imported."""

from importlib import import_module
from pkgutil import iter_modules

from sdyopt.dialects.stablehlo.dialect import stablehlo

DIALECT = stablehlo

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
