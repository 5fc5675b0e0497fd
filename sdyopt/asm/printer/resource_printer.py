"""Prints the `{-# … #-}` section of a module."""

from __future__ import annotations

from sdyopt.asm.parser.resources import Resources
from sdyopt.asm.printer.attribute_printer import name_text
from sdyopt.ir.elements_attributes import DenseResource
from sdyopt.ir.operation import Op
from sdyopt.ir.sub_elements import nested_attributes


def resource_section(root: Op, resources: Resources, elide_larger_than: int | None = None) -> str:
    """The section of the blobs that attributes refer to, after a newline; empty if there are none.

    Blobs whose text is longer than `elide_larger_than` are not printed; None prints all.
    """
    keys = [key for key in _resource_keys(root) if key in resources.blobs] if resources.blobs else []
    if not keys:
        return ""
    shown = [(key, resources.blobs[key]) for key in keys]
    # As in MLIR, the limit includes the quotes, and a section may have no entries.
    limit = elide_larger_than
    entries = [
        f'      {name_text(key)}: "{blob}"' for key, blob in shown if limit is None or len(blob) + 2 <= limit
    ]
    if not entries:
        return "\n{-#\n\n#-}\n"
    inside = ",\n".join(entries)
    return f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{inside}\n    }}\n  }}\n#-}}\n"


def _resource_keys(root: Op) -> list[str]:
    """The keys that attributes refer to, in order of first use."""
    keys: dict[str, None] = {}
    visited = set()
    for op in root.walk():
        for attribute in (op.attributes, op.inherent_attributes()):
            if not attribute.entries or attribute in visited:
                continue
            visited.add(attribute)
            for inner in nested_attributes(attribute):
                if isinstance(inner, DenseResource):
                    keys.setdefault(inner.key)
    return list(keys)
