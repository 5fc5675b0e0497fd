"""Build hook: puts the parse tables into the wheel, so that no user waits for them to be made."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ParseTables(BuildHookInterface):
    """Makes sdyopt/syntax/pieces/tables.json for a wheel. A checkout makes its own when it needs them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        # Only here is the root of the checkout known.
        from sdyopt.syntax.pieces.tables import SHIPPED, build_tables, write_tables  # noqa: PLC0415

        made = Path(self.directory) / SHIPPED.name
        made.parent.mkdir(parents=True, exist_ok=True)
        write_tables(build_tables(), made)
        build_data["force_include"][str(made)] = str(SHIPPED.relative_to(self.root))
