"""Programs that are already partitioned: their types are local, even if their functions have shardings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.recomputation import communication
from tests.recomputation.text_program import Operation, Program, Value

KINDS = re.compile(rf"sdy\.({communication.KINDS})")
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


def without_stale_shardings(program: Program, is_marked: bool) -> Program:
    """The program, whose values lose their shardings if it is already partitioned.

    It is if it is marked, or has collectives of StableHLO, none of sdy, and no manual computation.
    """
    ops = [op for function in program.functions.values() for op in function.walk()]
    names = {op.name for op in ops}
    is_global = any(name == "sdy.manual_computation" or KINDS.fullmatch(name) for name in names)
    if is_marked or (not names.isdisjoint(COLLECTIVES) and not is_global):
        for value in _values(ops):
            value.shards = []
    return program


def _values(ops: list[Operation]) -> Iterator[Value]:
    for op in ops:
        yield from op.results
        for region in op.regions:
            yield from region.arguments
