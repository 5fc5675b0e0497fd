"""The bytes of collectives in HLO text, as XLA's own parser reads it. A script for a Python with jax 0.12.

read_with_xla.py FILE…    prints JSON: for each file, [instruction, kind, bytes] of each collective

A file is HLO text, or JSON of `compile_with_xla.py`. Bytes are those of the result of an all-gather, and of
the operands of any other collective, on one device. It shares no code with what `--compare-hlo` reads.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

from jaxlib import _hlo

# The name of an opcode without its `k` -> the kind of a collective.
KINDS = {
    "AllReduce": "all_reduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "AllToAll": "all_to_all",
    "RaggedAllToAll": "ragged_all_to_all",
    "CollectivePermute": "collective_permute",
}


def collectives_of(text: str) -> list[tuple[str, str, int]]:
    """The collectives of all computations, but for the ends of asynchronous ones."""
    found = []
    for computation in _hlo.hlo_module_from_text(text).computations():
        for instruction in computation.instructions():
            opcode = instruction.opcode.name.removeprefix("k")
            if (kind := KINDS.get(opcode.removesuffix("Start"))) is None:
                continue
            shapes = [operand.shape for operand in instruction.operands()]
            if opcode == "AllGather":
                shapes = [instruction.shape]
            elif opcode == "AllGatherStart":
                # The operands come first.
                shapes = [instruction.shape.tuple_shapes()[1]]
            found.append((instruction.name, kind, sum(map(size_of, shapes))))
    return found


def size_of(shape: Any) -> int:
    """The bytes of an array, or of all arrays of a tuple."""
    if shape.is_tuple():
        return sum(map(size_of, shape.tuple_shapes()))
    return int(math.prod(shape.dimensions()) * shape.numpy_dtype().itemsize)


if __name__ == "__main__":
    read = {}
    for path in map(Path, sys.argv[1:]):
        contents = path.read_text(encoding="utf-8")
        read[path.stem] = collectives_of(json.loads(contents)["hlo"] if path.suffix == ".json" else contents)
    json.dump(read, sys.stdout)
