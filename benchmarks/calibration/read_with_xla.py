"""The bytes of collectives in HLO text, as XLA's own parser reads it. A script for a Python with jax 0.12.

read_with_xla.py FILE…    prints JSON: for each file, [instruction, kind, bytes, runs] of each collective

A file is HLO text, or JSON of `compile_with_xla.py`. Bytes are those of the result of an all-gather, and of
the operands of any other collective, on one device in one run. Runs are those of the loops around it, null
if they are unknown. Of a collective that TPU starts in a fusion, copies in others do not count; an all-reduce
in a computation named all-reduce-scatter is a reduce-scatter; what is sent to another slice is of the kind
that it states. It shares no code with what `--compare-hlo` reads.
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


# What TPU sends to other slices.
TRANSFERS = ("ALL_REDUCE", "ALL_GATHER", "REDUCE_SCATTER", "ALL_TO_ALL")
TRANSFER = re.compile(r'_xla_host_transfer_rendezvous="([^"]*)".*_xla_megascale_transfer_type="(\w+)"')
CALLED = re.compile(
    r"\b(body|condition|to_apply|calls|called_computations|true_computation|false_computation|branch_computations)="
    r"(\{[^}]*\}|%?[\w.-]+)"
)
TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')


def collectives_of(text: str) -> list[tuple[str, str, int, int | None]]:
    """The collectives of all computations, but for the ends of asynchronous ones."""
    found = []
    # XLA for the CPU does not know these operations of SparseCores.
    text = re.sub(r" custom-call-(start|update|done)\(([^)]*)\)", _as_custom_call, text)
    text = re.sub(r' async_execution_thread="\w+",', "", text)
    # Nor the operand in the type of an all-reduce of GPU that starts.
    text = re.sub(r"= \(\([^()]*\), ([^()]*)\) all-reduce-start\(", r"= \1 all-reduce-start(", text)
    text = re.sub(r"(all-reduce-start\(.*), output_to_operand_aliasing=\{\{1\}: \(0, \{\}\)\}", r"\1", text)
    computations = _hlo.hlo_module_from_text(text).computations()
    runs = runs_of(text, {each.name: each.instructions() for each in computations})
    ending = {
        each.name
        for each in computations
        if any('"AsyncCollectiveDone"' in instruction.to_string() for instruction in each.instructions())
    }
    received = {
        (computation.name, transfer[1]): instruction.shape.tuple_shapes()[0]
        for computation in computations
        for instruction in computation.instructions()
        if instruction.opcode.name == "kRecv" and (transfer := TRANSFER.search(instruction.to_string()))
    }
    for computation in computations:
        for instruction in computation.instructions():
            opcode = instruction.opcode.name.removeprefix("k")
            line = instruction.to_string()
            shapes = [operand.shape for operand in instruction.operands()]
            if opcode == "Send" and (transfer := TRANSFER.search(line)):
                kind = transfer[2].lower() if transfer[2] in TRANSFERS else "collective_permute"
                is_gather = kind == "all_gather"
                shapes = [received[computation.name, transfer[1]] if is_gather else shapes[0]]
            elif opcode == "Send" and "source_target_pairs=" in line:
                kind, shapes = "collective_permute", shapes[:1]
            elif opcode == "AsyncStart" and (wrapped := instruction.async_wrapped_root()) is not None:
                instruction, opcode = wrapped, wrapped.opcode.name.removeprefix("k")
                kind = KINDS.get(opcode, "")
                shapes = [operand.shape for operand in instruction.operands()]
            else:
                kind = KINDS.get(opcode.removesuffix("Start"), "")
            if not kind:
                continue
            if computation.name in ending or computation.name.startswith("async_collective_fusion"):
                # A fusion that continues it.
                continue
            if opcode == "AllReduce" and computation.name.startswith("all-reduce-scatter"):
                kind = "reduce_scatter"
            if opcode == "AllGather":
                shapes = [instruction.shape]
            elif opcode == "AllGatherStart":
                # The operands come first.
                shapes = [instruction.shape.tuple_shapes()[1]]
            size = sum(map(size_of, shapes))
            found.append((instruction.name, kind, size, runs.get(computation.name)))
    return found


def _as_custom_call(match: re.Match[str]) -> str:
    target = "" if match[1] == "start" else ', custom_call_target="SparseCore"'
    return f" custom-call({match[2]}){target}"


def trips_of(loop: Any, condition: Any, body: Any) -> int | None:
    """How often a loop of TPU runs, for which XLA states no number: a counter is compared with a constant.

    `condition` and `body` are the results of these computations.
    """
    compares = condition.opcode.name == "kCompare" and "direction=LT" in condition.to_string()
    index = re.search(r"index=(\d+)", condition.operands()[0].to_string()) if compares else None
    limit = number_of(condition.operands()[1]) if compares else None
    if index is None or limit is None:
        return None
    first = number_of(loop.operands()[0].operands()[int(index[1])])
    following = body.operands()[int(index[1])]
    steps = [number for each in following.operands() if (number := number_of(each)) is not None]
    if first is None or following.opcode.name != "kAdd" or len(steps) != 1:
        return None
    return max(0, -(-(limit - first) // steps[0]))


def number_of(instruction: Any) -> int | None:
    """The integer of a constant, or of a copy of one."""
    while instruction.opcode.name in ("kCopy", "kBitcast"):
        instruction = instruction.operands()[0]
    match = re.search(r"constant\((-?\d+)\)", instruction.to_string())
    return None if match is None else int(match[1])


def runs_of(text: str, computations: dict[str, Any]) -> dict[str, int | None]:
    """How often computations run, one of several branches once."""
    entry = re.search(r"^ENTRY %?([\w.-]+)", text, re.MULTILINE)
    roots = set(re.findall(r"^  ROOT %?([\w.-]+)", text, re.MULTILINE))
    results = {
        name: each
        for name, instructions in computations.items()
        for each in instructions
        if each.name in roots
    }
    found: dict[str, int | None] = dict.fromkeys(computations, 0)

    def run(name: str, times: int | None) -> None:
        before = found[name]
        found[name] = None if before is None or times is None else before + times
        for instruction in computations[name]:
            line = instruction.to_string()
            trips = TRIPS.search(line)
            called = dict(CALLED.findall(line))
            count = int(trips[1]) if trips else None
            if "body" in called and not trips:
                ends = [results.get(called[role].strip("%")) for role in ("condition", "body")]
                count = trips_of(instruction, *ends) if all(ends) else None
            for role, names in called.items():
                factor = count if role in ("body", "condition") else 1
                for callee in re.findall(r"[\w.-]+", names):
                    if callee in computations:
                        run(callee, None if times is None or factor is None else times * factor)

    if entry is not None:
        run(entry[1], 1)
    return found


def size_of(shape: Any) -> int:
    """The bytes of an array, or of all arrays of a tuple."""
    if shape.is_token():
        return 0
    if shape.is_tuple():
        return sum(map(size_of, shape.tuple_shapes()))
    return int(math.prod(shape.dimensions()) * shape.numpy_dtype().itemsize)


if __name__ == "__main__":
    read = {}
    for path in map(Path, sys.argv[1:]):
        contents = path.read_text(encoding="utf-8")
        read[path.stem] = collectives_of(json.loads(contents)["hlo"] if path.suffix == ".json" else contents)
    json.dump(read, sys.stdout)
