"""Programs that are partitioned already: types are local, whatever shardings their functions still have."""

from __future__ import annotations

from collections.abc import Iterator

from tests.recomputation.text_program import Operation, Program, Value

COLLECTIVES = tuple(
    f"stablehlo.{kind}"
    for kind in (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "collective_permute",
        "cross-replica-sum",
        "reduce_scatter",
    )
)


def without_stale_shardings(program: Program) -> Program:
    """The program; if a StableHLO collective is in no manual computation, no value is divided."""
    ops = [op for function in program.functions.values() for op in function.walk()]
    if any(op.name in COLLECTIVES and not _is_manual(op) for op in ops):
        for value in _values(ops):
            value.shards = []
    return program


def _values(ops: list[Operation]) -> Iterator[Value]:
    for op in ops:
        yield from op.results
        for region in op.regions:
            yield from region.arguments


def _is_manual(op: Operation | None) -> bool:
    while op is not None and op.name != "sdy.manual_computation":
        op = op.parent
    return op is not None
