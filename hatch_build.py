"""Build hook: puts the parse tables into the wheel, so that no user waits for them to be made."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ParseTables(BuildHookInterface):
    """Writes sdyopt/asm/parser/attributes/tables.json for a wheel. A checkout builds its own on demand."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        # Only here is the root of the checkout known.
        from sdyopt.asm.parser.attributes.lr_tables import (  # noqa: PLC0415
            SHIPPED,
            build_tables,
            write_tables,
        )

        made = Path(self.directory) / SHIPPED.name
        made.parent.mkdir(parents=True, exist_ok=True)
        write_tables(build_tables(), made)
        build_data["force_include"][str(made)] = str(SHIPPED.relative_to(self.root))
