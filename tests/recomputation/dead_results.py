"""Results of functions that no call uses: what only they depend on is not computed, and takes no memory."""

from __future__ import annotations

import re

from tests.recomputation.text_program import Operation, Program, Value

# Operations that run even if no one uses their results.
EFFECTS = re.compile(
    r"func\.call|call|return|func\.return|stablehlo\.(return|all_gather|all_reduce|all_to_all|collective_\w+|"
    r"reduce_scatter|infeed|outfeed|recv|send|rng|custom_call)|sdy\.(return|sharding_constraint|sharding_group|propagation_barrier)"
)


def _has_effects(op: Operation) -> bool:
    return any(EFFECTS.fullmatch(inner.name) for inner in op.walk() if inner is op or inner.results)


def without_dead_results(program: Program) -> Program:
    """The program without dead operations, and without the results of calls that are dead."""
    ops = [op for function in program.functions.values() for op in function.walk()]
    entries = set(map(id, program.entries()))
    calls: dict[str, list[Operation]] = {}
    for op in ops:
        if op.callee is not None:
            calls.setdefault(op.callee, []).append(op)
    dead: set[Value] = set()
    dead_ops: set[int] = set()
    uses: dict[Value, list[tuple[Operation, int]]] = {}
    for op in ops:
        for number, operand in enumerate(op.operands):
            uses.setdefault(operand, []).append((op, number))

    def is_unused(function: Operation, name: str, number: int) -> bool:
        return id(function) not in entries and all(
            call.results[number] in dead for call in calls.get(name, ())
        )

    def is_dead_use(op: Operation, number: int) -> bool:
        if id(op) in dead_ops:
            return True
        if op.callee in program.functions:
            regions = program.functions[op.callee].regions
            return bool(regions) and regions[0].arguments[number] in dead
        for name, function in program.functions.items():
            if op.name in ("return", "func.return") and op.parent is function:
                return is_unused(function, name, number)
        return False

    while True:
        before = len(dead), len(dead_ops)
        for op in ops:
            if op.callee is not None:
                dead.update(result for result in op.results if result not in uses)
            elif op.results and dead.issuperset(op.results) and not _has_effects(op):
                dead_ops.add(id(op))
        for value, users in uses.items():
            if all(is_dead_use(*use) for use in users):
                dead.add(value)
        if before == (len(dead), len(dead_ops)):
            break
    for op in ops:
        op.results = [result for result in op.results if result not in dead]
        for region in op.regions:
            region.operations = [each for each in region.operations if id(each) not in dead_ops]
    return program
