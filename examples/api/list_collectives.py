"""Lists the collectives of a program after partitioning, with the lines that they come from.

    python examples/api/list_collectives.py examples/transformer_train.mlir

The program is what JAX prints: `jax.jit(f).lower(…).as_text(debug_info=True)`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import sdyopt


def main(path: str) -> int:
    """Prints a line per collective. Returns the exit status."""
    try:
        module = sdyopt.parse(Path(path))
        partitioned = module.run("sdy-propagation-pipeline", enable_insert_explicit_collectives=True)
    except sdyopt.Error as error:
        print(error, file=sys.stderr)
        return 1
    report = partitioned.report()
    for collective in report.collectives:
        size = "unknown" if collective.wire_bytes is None else f"{collective.wire_bytes:,} bytes"
        print(f"{size:>20}  {collective}")
    print(f"{len(report.collectives)} collectives on {report.devices} devices")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
