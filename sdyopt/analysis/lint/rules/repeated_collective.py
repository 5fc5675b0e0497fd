"""repeated-collective: the same collective runs again on the same value.

    %1 = sdy.all_gather [{"x"}, {}] %w out_sharding=<@mesh, [{}, {}]> : tensor<1024x1024xf32>
    %2 = stablehlo.dot_general %a, %1, …
    %3 = sdy.all_gather [{"x"}, {}] %w out_sharding=<@mesh, [{}, {}]> : tensor<1024x1024xf32>
    %4 = stablehlo.dot_general %b, %3, …

The second collective yields the same as the first one. This is common for a weight that is sharded along the
axis of the data and gathered for the forward pass and again for the backward pass. Keeping the first result
instead saves the wire bytes, and takes its memory from the first use to the last.

XLA merges equal collectives where it can, and so do the passes that lint runs. The rule constrains the value
to the gathered sharding, in a copy of the program, and reports the collectives if the program then sends less
and takes no more memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction

from sdyopt.analysis.changes.effect import bytes_of_runs
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.lint.rule import (
    MIN_WIRE_BYTES,
    Finding,
    LintedPrograms,
    Looks,
    Note,
    Rule,
    collective_text,
    rule,
    runs_text,
)
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.interfaces import is_memory_effect_free
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value


@rule("repeated-collective", Severity.WARNING, Looks.TRIALS)
class RepeatedCollective(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        for chain, first in _repeated_chains(program):
            figures = [program.collectives[op] for op in chain]
            cost = sum(map(bytes_of_runs, figures), Fraction(0))
            if not cost or cost < self.limit("min_bytes"):
                continue
            last = figures[-1]
            names = [collective_text(last), *dict.fromkeys(figure.kind for figure in reversed(figures[:-1]))]
            yield Finding(
                chain[-1],
                f"{' after '.join(names)} {'run' if names[1:] else 'runs'} again on the same value: "
                f"{bytes_text(cost)} on the wire{runs_text(last.times)}",
                notes=(Note("the first result is for this use", first),),
                cost=cost,
                collectives=tuple(chain),
            )


def _repeated_chains(program: LintedProgram) -> Iterator[tuple[list[Op], Op]]:
    """The collectives that repeat earlier ones, in chains, and what the last of each chain repeats."""
    numbers = ValueNumbers(program.module)
    first: dict[tuple[Hashable, Region | None], Op] = {}
    repeats: dict[Op, Op] = {}
    for op in program.collectives:
        key = numbers.key(op)
        # The result of an earlier collective can be used in its region and in those nested in it.
        regions = [op.parent_region, *(parent.parent_region for parent in op.ancestors())]
        earlier = next((first[key, region] for region in regions if (key, region) in first), None)
        if earlier is None:
            first[key, op.parent_region] = op
        else:
            repeats[op] = earlier
    for op, earlier in repeats.items():
        if any(user in repeats for user in op.results[0].users):
            continue
        chain, before = [op], op.operand_at(0).defining_op
        while before is not None and before in repeats:
            chain.insert(0, before)
            before = before.operand_at(0).defining_op
        yield chain, earlier


# Value numbers: values that are equal by construction have the same number.
#
# Two operations yield equal values if they have no memory effects or are sdy collectives, have the same
# attributes and result types, and operands with equal numbers. Shardings count too: a value with another
# sharding is another value to a collective.


# The attribute that gives each StableHLO collective a number of its own.
_CHANNEL = "channel_handle"


class ValueNumbers:
    """The numbers of the values of a module."""

    def __init__(self, module: Op) -> None:
        self._numbers: dict[Value, Hashable] = {}
        # An integer per key keeps the keys small.
        self._of_key: dict[Hashable, int] = {}
        for op in module.walk():
            if _is_numbered(op):
                number = self._of_key.setdefault(self.key(op), len(self._of_key))
                for index, result in enumerate(op.results):
                    self._numbers[result] = (number, index)

    def number(self, value: Value) -> Hashable:
        """The number of a value; the value itself if nothing is known about it."""
        return self._numbers.get(value, value)

    def key(self, op: Op) -> Hashable:
        """A key that equal operations have in common; channel handles do not count."""
        signature, inside = op.signature, [item.signature for item in op.walk()][1:]
        attributes = tuple([entry for entry in signature.attributes.entries if entry[0] != _CHANNEL])
        types = signature.result_types
        name: Hashable = signature.name
        return name, attributes, types, op.attributes, *inside, *map(self.number, op.operands)


def _is_numbered(op: Op) -> bool:
    if op.regions or not op.results:
        return False
    return isinstance(op, CollectiveOp) or (is_memory_effect_free(op) and not isinstance(op, COLLECTIVES))
