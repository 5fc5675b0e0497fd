"""Halves what a training step sends: sums of float32 along the mesh are made in bfloat16.

    python examples/api/halve_communication.py examples/transformer_train.mlir

Prints what a device sends before and after, and writes the program to stdout with `--print`. Whether the
lower precision is good enough depends on the model.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import sdyopt

# Smaller sums are not worth two conversions.
SMALLEST = 1 << 16


def halve(module: sdyopt.Module) -> sdyopt.Module:
    """The program with the large sums in bfloat16."""
    large = {each.value for each in module.report().collectives if (each.wire_bytes or 0) >= SMALLEST}

    def reduce_in_bfloat16(op: sdyopt.Operation, rewriter: sdyopt.Rewriter) -> bool:
        result = op.results[0]
        if str(result.type.element_type) != "f32" or op not in sums:
            return False
        shape, sharding = result.type.shape, result.sharding
        assert shape is not None and sharding is not None
        # Until the sum is made, each device has a part of it.
        axes = re.findall(r'"(\w+)"', str(op.attributes["reduction_axes"]))
        partial = sdyopt.Sharding(sharding.mesh, sharding.dimensions, unreduced_axes=axes)
        narrow = rewriter.create(
            "stablehlo.convert", op.operands, [sdyopt.Type.tensor(shape, "bf16")], before=op
        )
        rewriter.set_sharding(op.operands[0], partial)
        rewriter.set_sharding(narrow.results[0], partial)
        total = rewriter.create("sdy.all_reduce", narrow.results, attributes=op.attributes, before=op)
        wide = rewriter.create("stablehlo.convert", total.results, [result.type], before=op)
        rewriter.set_sharding(wide.results[0], sharding)
        rewriter.replace(op, wide)
        return True

    with module.edit() as edit:
        sums = {op for op in edit.walk() if op.name == "sdy.all_reduce" and op.results[0].name in large}
        edit.apply(sdyopt.Pattern("sdy.all_reduce", reduce_in_bfloat16))
    return edit.module


def sent(module: sdyopt.Module) -> int:
    """The bytes that a device sends in a step."""
    sizes = [
        (each.wire_bytes or 0) * (each.times.greatest if each.times else 1)
        for each in module.report().collectives
    ]
    return sum(sizes)


def main(path: str, *flags: str) -> int:
    """Returns the exit status."""
    step = sdyopt.parse(Path(path))
    step = step.run("sdy-propagation-pipeline", enable_insert_explicit_collectives=True)
    halved = halve(step)
    print(f"{sent(step):,} bytes are sent, and {sent(halved):,} afterwards", file=sys.stderr)
    if "--print" in flags:
        print(halved, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
