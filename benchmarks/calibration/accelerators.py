"""Reads HLO for the CPU as the compilers for TPU and GPU would go on with it.

The pipeline for the CPU lacks passes that those for TPU and GPU have. They change what is sent:

    %b = all-reduce(%a); %c = dynamic-slice(%b, …)     one reduce-scatter, if each device slices its own part
    %b = all-reduce(%a), groups of x; %c = all-reduce(%b), groups of y     one all-reduce, groups of x and y
    %b = all-gather(%a), channel_id=1; %c = all-gather(%a), channel_id=2     one all-gather
    %c = add(all-reduce(%a), all-reduce(%b))     one all-reduce of the sum
"""

from __future__ import annotations

import re
from collections import Counter

from benchmarks.calibration.hlo_graph import IndexValues, Instruction, read_graph
from sdyopt.analysis.hlo_comparison.device_groups import Groups, groups_of_hlo

SCATTERED, FOLDED, MERGED, SUMMED = "reduce-scatter", "one along both axes", "merged", "one of the sum"
_COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
# They keep each element; its position may be another one.
_REARRANGE = ("bitcast", "reshape", "copy", "transpose")
_GROUPS = re.compile(
    r"replica_groups=(mesh\[[^\]]*\](?:, device_ids=\([^ ]*\))? ?\{[^}]*\}|\{(?:\{[\d,]*\},?)*\}"
    r"|[^ ]*\](?:T\([\d,]+\))?)"
)
_CHANNEL = re.compile(
    r", (?:channel_id=\d+|metadata=\{[^}]*\}|frontend_attributes=\{[^}]*\}|backend_config=\{.*\}$)"
)


def as_on_accelerators(text: str, devices: int) -> tuple[str, Counter[str]]:
    """The text with the collectives of TPU and GPU, and how many were changed in each way."""
    lines: dict[str, str | None] = {}
    counts: Counter[str] = Counter()
    graph = read_graph(text)
    indices = IndexValues(graph)
    for ops in graph.values():
        gone = _merge(ops, lines, counts)
        reductions = [
            op for op in ops if op.opcode == "all-reduce" and op not in gone and len(op.operands) == 1
        ]
        groups = {op: _groups(op, devices) for op in reductions}
        for op in reductions:
            inner = op.operands[0]
            joined = None
            if inner in groups and len(inner.users) == 1 and inner not in gone:
                joined = _joined(groups[inner], groups[op])
            if joined is not None:
                gone.add(inner)
                groups[op] = joined
                lines[inner.line] = None
                lines[op.line] = _GROUPS.sub("replica_groups=" + _text(joined), op.line)
                counts[FOLDED] += 1
        kept = [op for op in reductions if op not in gone]
        sums = _Sums(ops, groups)
        for op in sums.redundant({op: op for op in kept}):
            gone.add(op)
            lines[op.line] = None
            counts[SUMMED] += 1
        parts = {op: _own_part(op, groups[op], indices) for op in kept if op not in gone}
        scattered = {op: part for op, part in parts.items() if part is not None}
        for op, part in scattered.items():
            line = lines.get(op.line, op.line) or ""
            lines[op.line] = line.replace(f"{op.type} all-reduce(", f"{part.type} reduce-scatter(")
            counts[SCATTERED] += 1
        for op in sums.redundant(scattered):
            lines[op.line] = None
            counts[SUMMED] += 1
    changed = (lines.get(line, line) for line in text.splitlines())
    return "\n".join(line for line in changed if line is not None), counts


def _merge(ops: list[Instruction], lines: dict[str, str | None], counts: Counter[str]) -> set[Instruction]:
    """Removes collectives that are equal to an earlier one of the same operands."""
    first: dict[tuple[object, ...], Instruction] = {}
    of: dict[Instruction, Instruction] = {}
    gone: set[Instruction] = set()
    for op in ops:
        if op.opcode in _COLLECTIVES or op.opcode in _REARRANGE:
            operands = tuple(
                (of.get(each, each), part) for each, part in zip(op.operands, op.parts, strict=True)
            )
            attributes = _CHANNEL.sub("", op.attributes)
            same = first.setdefault((op.opcode, op.type, attributes, operands), op)
            if same is not op:
                of[op] = same
                same.users += [each for each in op.users if each not in same.users]
                if op.opcode in _COLLECTIVES:
                    gone.add(op)
                    lines[op.line] = None
                    counts[MERGED] += 1
    return gone


class _Sums:
    """The sums of a computation, of which the terms are reductions."""

    def __init__(self, ops: list[Instruction], groups: dict[Instruction, Groups]) -> None:
        self._ops = ops
        self._groups = groups

    def redundant(self, results: dict[Instruction, Instruction]) -> list[Instruction]:
        """The reductions whose terms another reduction of the same sum could combine, too.

        `results` are the values that sums add, by the reduction that computes them.
        """
        found = []
        # The reduction that stands for all of those that a value is the sum of.
        terms = {
            result: op
            for op, result in results.items()
            if len(result.users) == 1 and "to_apply=%add" in op.attributes
        }
        for op in self._ops:
            if op.opcode in (*_REARRANGE, "negate") and op.operands and op.operands[0] in terms:
                if len(op.users) == 1 and op not in results.values():
                    terms[op] = terms[op.operands[0]]
            elif op.opcode in ("add", "subtract") and all(each in terms for each in op.operands):
                first, second = (terms[each] for each in op.operands)
                if first is not second and self._are_alike(first, results[first], second, results[second]):
                    found.append(second)
                    if len(op.users) == 1:
                        terms[op] = first
        return found

    def _are_alike(
        self, first: Instruction, one: Instruction, second: Instruction, other: Instruction
    ) -> bool:
        if self._groups[first] != self._groups[second] or one.type != other.type:
            return False
        return one is first or (one.operands[1:] == other.operands[1:] and one.parts[1:] == other.parts[1:])


def _groups(op: Instruction, devices: int) -> Groups:
    match = _GROUPS.search(op.attributes)
    return groups_of_hlo(match[1].rstrip(",") if match is not None else "", devices)


def _joined(first: Groups, second: Groups) -> Groups | None:
    """The groups of devices that two reductions combine; None if some devices would be combined twice."""
    around = {device: group for group in first for device in group}
    found = frozenset(
        frozenset(device for member in group for device in around.get(member, ())) for group in second
    )
    size = max(map(len, first), default=1) * max(map(len, second), default=1)
    covered = sum(map(len, found))
    devices = {device for group in found for device in group}
    is_exact = all(len(group) == size for group in found) and covered == len(devices)
    return found if is_exact else None


def _text(groups: Groups) -> str:
    listed = sorted(sorted(group) for group in groups)
    return "{" + ",".join("{" + ",".join(map(str, group)) + "}" for group in listed) + "}"


def _own_part(op: Instruction, groups: Groups, indices: IndexValues) -> Instruction | None:
    """The slice that is the only use of an all-reduce, if the devices of each group take different parts."""
    value = op
    while len(value.users) == 1 and value.users[0].opcode in _REARRANGE and not value.users[0].is_root:
        value = value.users[0]
    if (
        len(value.users) != 1
        or value.users[0].opcode != "dynamic-slice"
        or value.users[0].operands[0] is not value
    ):
        return None
    part = value.users[0]
    size = max(map(len, groups), default=1)
    if size < 2 or part.elements * size != op.elements:
        return None
    for group in groups:
        taken = set()
        for device in group:
            starts = indices.of_operands(device, part)[1:]
            if any(each is None or len(each) != 1 for each in starts):
                return None
            first = [each[0] for each in starts if each is not None]
            taken.add(tuple(first))
        if len(taken) != size:
            return None
    return part
