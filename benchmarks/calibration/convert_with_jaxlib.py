"""Reads and writes programs with MLIR in jaxlib. A script for a Python that has jax.

convert_with_jaxlib.py FOLDER    converts the .mlir and .mlirbc files in a folder, both to NAME.txt, with
                                 locations, and text also to NAME.VERSION.jaxlib, for versions 0 and 6
"""

import sys
from io import BytesIO
from pathlib import Path

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

VERSIONS = (0, 6)


def convert(path: Path) -> None:
    """Writes the files beside a program; none if jaxlib does not read it."""
    with jax_mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        try:
            module = ir.Module.parse(path.read_bytes(), context)
        except (ir.MLIRError, ValueError):
            return
        text = module.operation.get_asm(enable_debug_info=True, large_elements_limit=None)
        path.with_name(f"{path.name}.txt").write_text(text, encoding="utf-8")
        if path.suffix == ".mlir":
            for version in VERSIONS:
                data = BytesIO()
                module.operation.write_bytecode(data, desired_version=version)
                path.with_name(f"{path.stem}.{version}.jaxlib").write_bytes(data.getvalue())


for each in sorted(Path(sys.argv[1]).iterdir()):
    if each.suffix in (".mlir", ".mlirbc"):
        convert(each)
