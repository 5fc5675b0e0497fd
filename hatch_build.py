"""Build hook: adds the LALR tables to the wheel, so that they need not be generated on first use."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ParseTables(BuildHookInterface):
    """Writes sdyopt/mlir/asm/parser/attributes/tables.json for a wheel; a checkout generates its own."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        # The root of the checkout is not on the path before.
        from sdyopt.mlir.asm.parser.attributes.lr_parser import (  # noqa: PLC0415
            SHIPPED,
            build_tables,
            write_tables,
        )

        path = Path(self.directory) / SHIPPED.name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_tables(build_tables(), path)
        build_data["force_include"][str(path)] = str(SHIPPED.relative_to(self.root))
