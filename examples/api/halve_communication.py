"""Halves what a training step sends: tensors of float32 are summed and gathered in bfloat16.

    python examples/api/halve_communication.py examples/transformer_train.mlir

Prints what a device sends before and after, and writes the program to stdout with `--print`. Whether the
lower precision is good enough depends on the model.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import sdyopt

# Smaller tensors are not worth two conversions.
SMALLEST = 1 << 16
COLLECTIVES = ("sdy.all_reduce", "sdy.all_gather")


def halve(module: sdyopt.Module) -> sdyopt.Module:
    """The program with the large collectives in bfloat16."""
    large = {each.value for each in module.report().collectives if (each.wire_bytes or 0) >= SMALLEST}

    def send_in_bfloat16(op: sdyopt.Operation, rewriter: sdyopt.Rewriter) -> bool:
        result, operand = op.results[0], op.operands[0]
        if str(result.type.element_type) != "f32" or op not in sends:
            return False
        shape, sharding, before = result.type.shape, result.sharding, operand.sharding
        assert shape is not None and sharding is not None
        if op.name == "sdy.all_reduce":
            # Until the sum is made, each device has a part of it.
            axes = re.findall(r'"(\w+)"', str(op.attributes["reduction_axes"]))
            before = sdyopt.Sharding(sharding.mesh, sharding.dimensions, unreduced_axes=axes)
            rewriter.set_sharding(operand, before)
        assert before is not None
        narrow = rewriter.create(
            "stablehlo.convert", op.operands, [sdyopt.Type.tensor(shape, "bf16")], before=op
        )
        rewriter.set_sharding(narrow.results[0], before)
        sent = rewriter.create(op.name, narrow.results, attributes=op.attributes, before=op)
        wide = rewriter.create("stablehlo.convert", sent.results, [result.type], before=op)
        rewriter.set_sharding(wide.results[0], sharding)
        rewriter.replace(op, wide)
        return True

    with module.edit() as edit:
        sends = {op for op in edit.walk() if op.name in COLLECTIVES and op.results[0].name in large}
        edit.apply(*(sdyopt.Pattern(name, send_in_bfloat16) for name in COLLECTIVES))
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
