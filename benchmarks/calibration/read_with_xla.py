"""The bytes of collectives in HLO text, as XLA's own parser reads it. A script for a Python with jax 0.12.

read_with_xla.py FILE…    prints JSON: for each file, [instruction, kind, bytes, runs] of each collective

A file is HLO text, or JSON of `compile_with_xla.py`. Bytes are those of the result of an all-gather, and of
the operands of any other collective, on one device in one run. Runs are those of the loops around it, null
if XLA does not state a number. It shares no code with what `--compare-hlo` reads.
"""

import json
import math
import re
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


CALLED = re.compile(
    r"\b(body|condition|to_apply|calls|true_computation|false_computation|branch_computations)="
    r"(\{[^}]*\}|%?[\w.-]+)"
)
TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')


def collectives_of(text: str) -> list[tuple[str, str, int, int | None]]:
    """The collectives of all computations, but for the ends of asynchronous ones."""
    found = []
    computations = _hlo.hlo_module_from_text(text).computations()
    runs = runs_of(text, {each.name: each.instructions() for each in computations})
    for computation in computations:
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
            size = sum(map(size_of, shapes))
            found.append((instruction.name, kind, size, runs.get(computation.name)))
    return found


def runs_of(text: str, computations: dict[str, Any]) -> dict[str, int | None]:
    """How often computations run, one of several branches once."""
    entry = re.search(r"^ENTRY %?([\w.-]+)", text, re.MULTILINE)
    found: dict[str, int | None] = dict.fromkeys(computations, 0)

    def run(name: str, times: int | None) -> None:
        before = found[name]
        found[name] = None if before is None or times is None else before + times
        for instruction in computations[name]:
            line = instruction.to_string()
            trips = TRIPS.search(line)
            for role, names in CALLED.findall(line):
                is_loop = role in ("body", "condition")
                factor = (int(trips[1]) if trips else None) if is_loop else 1
                for callee in re.findall(r"[\w.-]+", names):
                    if callee in computations:
                        run(callee, None if times is None or factor is None else times * factor)

    if entry is not None:
        run(entry[1], 1)
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
