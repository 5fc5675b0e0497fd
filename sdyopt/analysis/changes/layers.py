"""Reduces the equal layers of an unrolled program to two, so that a search takes less time.

A run is a sequence of operations that is repeated: the layers of the forward pass, those of the backward
pass, the updates of their parameters. In each run, all repetitions but the first and the last are removed, or
those that use the same parameters as the layers that are removed. What is left uses the values of the
repetition before. The reduced program computes something else, but with the same communication per layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.figures.assumed_pipeline import pipeline_of
from sdyopt.analysis.figures.execution_counts import entry_functions, functions_in
from sdyopt.analysis.figures.peak_memory import ALIASING_OUTPUT
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.sharding_edits import erase_arguments, erase_results
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.shardy.record import FunctionResult, Subject

# A sequence is repeated so often at least, and has so many operations at least.
_MIN_COUNT, _MIN_PERIOD = 4, 8
# So many later operations of the same signature may begin the next repetition.
_MAX_LOOKED_AT = 40


class LayerRun(NamedTuple):
    """Operations `start` to `start + period * count` of a block: `times` times the same `period`."""

    start: int
    period: int
    times: int

    def repetition(self, number: int) -> range:
        first = self.start + number * self.period
        return range(first, first + self.period)


class ReducedProgram(NamedTuple):
    """A program with fewer layers. `values` and `results` are the copies of those that it still has."""

    module: Op
    function: FuncOp
    values: dict[Value, Value]
    results: dict[int, int]

    def change(self, change: Change) -> Change:
        """The edits of a change that concern what is left."""
        edits = ((self._subject(edit.subject), edit) for edit in change.edits)
        return change._replace(edits=tuple(edit._replace(subject=new) for new, edit in edits if new))

    def _subject(self, subject: Subject) -> Subject | None:
        if isinstance(subject, FunctionResult):
            index = self.results.get(subject.result_index)
            return None if index is None else FunctionResult(self.function, index)
        value = self.values.get(subject)
        return value if isinstance(value, OpResult | BlockArgument) else None


def runs_of(keys: Sequence[object]) -> Iterator[LayerRun]:
    """The runs of a sequence, the first and longest at each place."""
    following: dict[object, list[int]] = {}
    for number, key in enumerate(keys):
        following.setdefault(key, []).append(number)
    start, positions = 0, dict.fromkeys(following, 0)
    while start < len(keys):
        best = None
        numbers = following[keys[start]]
        while numbers[positions[keys[start]]] < start:
            positions[keys[start]] += 1
        first = positions[keys[start]] + 1
        for other in numbers[first : first + _MAX_LOOKED_AT]:
            period = other - start
            if period < _MIN_PERIOD or start + period * _MIN_COUNT > len(keys):
                continue
            end = start
            while end + period < len(keys) and keys[end] == keys[end + period]:
                end += 1
            count = (end - start) // period + 1
            if count >= _MIN_COUNT and (best is None or count * period > best.times * best.period):
                best = LayerRun(start, period, count)
        if best is None:
            start += 1
        else:
            yield best
            start += best.period * best.times


def with_fewer_layers(module: Op) -> ReducedProgram | None:
    """A copy of the program with two layers of each run; None if it does not become smaller by half."""
    values: dict[Value, Value] = {}
    copy = Rewriter().clone(module, values)
    functions = entry_functions(functions_in(copy))
    if len(functions) != 1 or len(functions[0].body.blocks) != 1:
        return None
    [function] = functions
    ops = list(function.entry.ops)
    replacements = _replacements(ops)
    if 2 * len(replacements) < len(ops) or not _are_dominated(ops, replacements):
        return None
    unused = {argument for argument in function.entry.arguments if not argument.has_uses}
    results = _remove(function, ops, replacements)
    # Removes what nothing uses any more.
    run_pipeline(pipeline_of({"cse": {}}), copy, None)
    gone = {
        argument.index
        for argument in function.entry.arguments
        if not argument.has_uses and argument not in unused
    }
    erase_arguments(function, gone, Rewriter())
    left: set[Value] = {result for op in copy.walk() for result in op.results}
    left |= {
        argument
        for op in copy.walk()
        for region in op.regions
        for block in region.blocks
        for argument in block.arguments
    }
    return ReducedProgram(copy, function, {old: new for old, new in values.items() if new in left}, results)


def _key(op: Op) -> object:
    nested = [item.signature for region in op.regions for block in region.blocks for item in block.ops]
    return (op.signature, *nested)


def _replacements(ops: Sequence[Op]) -> dict[int, int]:
    """The operations that are removed, by number, each with the one whose results are used instead."""
    runs = list(runs_of(list(map(_key, ops))))
    if not runs:
        return {}
    longest = max(runs, key=lambda run: run.times * run.period)
    used = [_arguments(ops, longest, number) for number in range(longest.times)]
    middle = set().union(*used[1:-1]) - used[0] - used[-1]
    replacements: dict[int, int] = {}
    for run in runs:
        if abs(run.times - longest.times) > 2:
            continue
        removed = [number for number in range(run.times) if _arguments(ops, run, number) & middle]
        if not removed or len(removed) > run.times - 2:
            removed = list(range(1, run.times - 1))
        kept = [number for number in range(run.times) if number not in removed]
        for number in removed:
            before = [index for index in kept if index < number] or kept[:1]
            replacements |= zip(run.repetition(number), run.repetition(before[-1]), strict=True)
    return replacements


def _arguments(ops: Sequence[Op], run: LayerRun, number: int) -> set[Value]:
    return {
        operand
        for index in run.repetition(number)
        for operand in ops[index].operands
        if isinstance(operand, BlockArgument)
    }


def _are_dominated(ops: Sequence[Op], replacements: Mapping[int, int]) -> bool:
    """Whether all uses of what is removed come after what is used instead."""
    numbers = {op: number for number, op in enumerate(ops)}

    def number_of(user: Op) -> int:
        while user not in numbers:
            parent = user.parent_op
            assert parent is not None
            user = parent
        return numbers[user]

    users = (
        (number_of(user), other)
        for number, other in replacements.items()
        for result in ops[number].results
        for user in result.users
    )
    return all(user in replacements or other < user for user, other in users)


def _remove(function: FuncOp, ops: Sequence[Op], replacements: Mapping[int, int]) -> dict[int, int]:
    """Removes operations, and results of the function that they compute; the new numbers of the others."""
    rewriter = Rewriter()
    end = ops[-1]
    assert isinstance(end, ReturnOp)
    removed = {ops[number] for number in replacements}
    kept = [index for index, value in enumerate(end.operands) if value.defining_op not in removed]
    for index, attributes in enumerate(function.argument_attributes):
        alias = attributes.get(ALIASING_OUTPUT)
        if isinstance(alias, IntegerAttr):
            moved = IntegerAttr(kept.index(alias.value), alias.type) if alias.value in kept else None
            rewriter.set_argument_attribute(function, index, ALIASING_OUTPUT, moved)
    erase_results(function, {*range(len(end.operands))} - {*kept}, rewriter)
    for number in sorted(replacements, reverse=True):
        for old, new in zip(ops[number].results, ops[replacements[number]].results, strict=True):
            rewriter.replace_all_uses(old, new)
        rewriter.erase(ops[number])
    return {old: new for new, old in enumerate(kept)}
