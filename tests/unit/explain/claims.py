"""Executes what answers about collectives claim: of each reason, whether it is true of the program.

    python -m tests.unit.explain.claims --count 500 --random 100 PROGRAM.mlir …

An annotation that an axis is from is changed to one without the axis: then the value must not have it. A
constraint that requires a sharding is removed: then the line must not send the same. All other claims are
compared with the types and attributes of operations and with the shardings after propagation.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import sdyopt
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, annotation_of, copy_of, place_of
from sdyopt.analysis.changes.outcome import place_of_collective
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.explain import collective_answers
from sdyopt.analysis.explain.advice import ExplainedChanges, _shardings
from sdyopt.analysis.explain.arrival_text import Sentence
from sdyopt.analysis.explain.explainer import ShardingExplainer
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.figures.causes import dims_text, last_of_chain, producer
from sdyopt.analysis.figures.figures import axis_sizes
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.sharding_record.arrivals import AnnotationKind, Arrival, dimension_of
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.sharding_record.sources import sources
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import is_private
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import result_text
from sdyopt.shardy.notation.partition_spec import specs_of
from sdyopt.shardy.record import FunctionResult, InsertedReshard, Subject
from tests.random_modules.programs import random_executable_program

# So many collectives of a program are looked at.
_MOST_OF_A_PROGRAM = 25


class Claims:
    """The claims of answers: how many of each kind were executed, and those that are false."""

    def __init__(self) -> None:
        self.collectives = 0
        self.counts: Counter[str] = Counter()
        # The first words of sentences that are no claims, or that are not executed.
        self.others: Counter[str] = Counter()
        self.wrong: list[str] = []

    def add(self, kind: str, is_true: bool, what: str) -> None:
        self.counts[kind] += 1
        if not is_true:
            self.wrong.append(f"{kind}: {what}")


def claims_of(program: str | Path, claims: Claims, most: int = _MOST_OF_A_PROGRAM) -> None:
    """Executes the claims of the answers about collectives of a program."""

    def answer(explainer: ShardingExplainer, _: object, __: int) -> str:
        _Executed(explainer, claims).run(most)
        return ""

    def nothing(*_: object) -> None:
        pass

    with (
        patch.object(ShardingExplainer, "answer", answer),
        patch.object(ExplainedChanges, "add_for_collective", nothing),
    ):
        module = sdyopt.parse(program)
        if module.report().collectives:
            module.explain("#0")


class _Executed:
    """One program after its passes, with the record of what they did."""

    def __init__(self, explainer: ShardingExplainer, claims: Claims) -> None:
        self._module: Op = explainer._module
        self._record: ShardingRecord = explainer.record
        self._advice = explainer.advice
        self._names = explainer.names
        self._claims = claims
        self._shapes = LocalShapes(self._module)
        self._report = report_on(self._module)
        written = self._advice._module
        self._trials = Trials(written, completing_pipeline(written, has_passes=False))
        self._without: dict[tuple[AnnotationEdit, ...], tuple[ShardingRecord, dict[Op, Op]] | None] = {}

    def run(self, most: int) -> None:
        ops = collective_answers.collectives_of(self._module)
        for number in range(0, len(ops), max(1, len(ops) // most)):
            came: list[tuple[PropagationRun, Arrival]] = []
            original = vars(collective_answers)["add_sides"]

            def sides(*arguments: Any, found: list[Any] = came, add: Callable[..., Any] = original) -> Any:
                found += add(*arguments)
                return found

            with patch.object(collective_answers, "add_sides", sides):
                tree = collective_answers.explain_collective(
                    self._module, number, self._record, self._names, self._advice
                )
            self._claims.collectives += 1
            self._check(ops[number], number, tree, came)

    # --- One answer -----------------------------------------------------------------------------------

    def _check(
        self, op: Op, number: int, tree: Sentence, came: Sequence[tuple[PropagationRun, Arrival]]
    ) -> None:
        where = f"{tree.text}"
        for text in _sentences(tree):
            for pattern, check in _CHECKS:
                if (match := re.match(pattern, text)) is not None:
                    for is_true in check(self, op, number, match):
                        self._claims.add(check.__name__.strip("_"), is_true, f"{where} | {text}")
                    break
            else:
                self._claims.others[re.sub(r"[^a-z ].*", "", text)[:40] or text[:40]] += 1
        for run, arrival in came:
            for is_true, why in self._arrival(run, arrival):
                self._claims.add("arrival", is_true, f"{where} | {why}")

    def _resharded(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        assert isinstance(op, CollectiveOp)
        before, after = (self._shapes.sharding(value) for value in (producer(op), last_of_chain(op)))
        yield match[1] == _spec(before, after) and match[2] == _spec(after, before)

    def _sum(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        """`dot_general contracts a dimension … sharded along "x"`, by the attributes of the operation."""
        value = producer(op)
        axes = set(re.findall(r'"(\w+)"', match[3]))
        assert isinstance(value, OpResult)
        source = value.op
        yield source.signature.name.removeprefix("stablehlo.") == match[1]
        yield any(
            axes <= {axis.name for axis in sharding.dims[dim].axes}
            for operand, dim in _summed(source)
            if match[2] != "slices" or not _is_indexed(source, operand, dim)
            if (sharding := self._shapes.sharding(operand)) is not None
        )

    def _result(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        """`result is sharded P(…): reason`."""
        value = last_of_chain(op) if isinstance(op, CollectiveOp) else op.results[0]
        uses = [use for use in value.uses if isinstance(use.owner.parent_op, FuncOp)]
        function = uses[0].owner.parent_op if uses else None
        yield isinstance(function, FuncOp) and result_text(function, uses[0].index) == match[1]
        assert isinstance(function, FuncOp)
        written = self._advice._ops[function]
        assert isinstance(written, FuncOp)
        annotation = annotation_of(FunctionResult(written, uses[0].index))
        before = self._shapes.sharding(producer(op))
        if match[3] in ("out_shardings state it", "the program states it"):
            yield annotation is not None
        elif (numbers := re.fullmatch(r"(\d+) is not divisible by (\d+)", match[3])) is not None:
            size, shards = int(numbers[1]), int(numbers[2])
            counts = self._shapes.shards(before) if before is not None else []
            assert isinstance(value.type, RankedTensor)
            yield size % shards != 0 and (size, shards) in zip(value.type.shape, counts, strict=True)
        else:
            yield annotation is None or _spec(annotation) != match[2]
            yield before is not None and any(axis.sub_axis is not None for axis in before.axis_refs)

    def _constraint(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        """`with_sharding_constraint requires P(…)`: without it, the line does not send the same."""
        cause = collective_answers._cause(op, self._record, self._names)
        yield isinstance(cause, ShardingConstraintOp | ReshardOp)
        assert isinstance(cause, ShardingConstraintOp | ReshardOp)
        # A copy of a function that is called several times has the line of its statement, and of its call.
        same = [op for op in self._advice._module.walk() if isinstance(op, ShardingConstraintOp | ReshardOp)]
        written = [op for op in same if self._advice._ops.get(cause) is op]
        at = source_location(cause.location).frames[:1]
        written = written or [op for op in same if source_location(op.location).frames[:1] == at]
        yield bool(written)
        yield _spec(cause.sharding) in match[2] or "[" in match[2]
        if isinstance(written[0], ShardingConstraintOp) and isinstance(written[0].output, OpResult):
            mesh = find_mesh(written[0].sharding.mesh_or_ref, written[0])
            assert mesh is not None
            edits = [
                AnnotationEdit(op.output, op.sharding, mesh, is_removal=True)
                for op in written
                if isinstance(op, ShardingConstraintOp) and isinstance(op.output, OpResult)
            ]
            after = self._trials.partitioned(Change(tuple(edits)))
            place = place_of_collective(self._report.collectives[number])
            after_all = after.report.collectives if after is not None else []
            here, there = (
                [each for each in found if place_of_collective(each) == place]
                for found in (self._report.collectives, after_all)
            )
            is_changed = _bytes(here) != _bytes(there) or len(here) != len(there)
            # What uses the value may require the same.
            after_chain = self._shapes.sharding(last_of_chain(op)) if isinstance(op, CollectiveOp) else None
            yield is_changed or _spec(after_chain) == _spec(cause.sharding)

    def _fit(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        """`add: operand 1 (…) does not fit "x" on dimension 0 of operand 0`: the plan moves the tensor."""
        cause = collective_answers._cause(op, self._record, self._names)
        assert isinstance(cause, InsertedReshard)
        plan, position = cause.plan, cause.position
        yield plan.shardings[position] != plan.planned[position]
        axes = set(re.findall(r'"(\w+)"(?!:)', match[3].partition(" on dimension")[0]))
        for dim, kind, index in re.findall(
            r"dimension (\d+) of (operand|the result|result)(?: (\d+))?", match[3]
        ):
            place = int(index or 0) + (0 if kind == "operand" else len(plan.rule.operands))
            sharding = plan.planned[place]
            have = set() if sharding is None else {axis.name for axis in sharding.dims[int(dim)].axes}
            yield axes <= have or not axes

    def _whole(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        """`sort needs all of dimension 1 of operand 0`."""
        cause = collective_answers._cause(op, self._record, self._names)
        assert isinstance(cause, InsertedReshard)
        plan, position, dim = cause.plan, cause.position, int(match[2])
        before, after = plan.shardings[position], plan.planned[position]
        yield before is not None and bool(before.dims[dim].axes)
        yield after is None or not after.dims[dim].axes

    def _split(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        """`reshape splits dimension 1 of operand 0, which has 4 shards along …: they do not divide 6`."""
        cause = collective_answers._cause(op, self._record, self._names)
        assert isinstance(cause, InsertedReshard)
        plan = cause.plan
        types = [*plan.signature.operand_types, *plan.signature.result_types]
        yield int(match[3]) % int(match[2]) != 0 and int(match[2]) > 1
        sizes = [size for each in types if isinstance(each, RankedTensor) for size in each.shape]
        yield (
            int(match[3]) in sizes
            if match[4] == "the size"
            else any(size % int(match[3]) == 0 for size in sizes)
        )

    def _device_order(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        cause = collective_answers._cause(op, self._record, self._names)
        assert isinstance(cause, InsertedReshard)
        meshes = {
            find_mesh(each.mesh_or_ref, self._module) for each in cause.plan.shardings if each is not None
        }
        yield len({mesh.device_ids for mesh in meshes if mesh is not None}) > 1

    def _takes(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        """`the loop carries it as P(…)`, `in_specs of the shard_map, for x, are P(…)`, `add takes … as`."""
        is_result = " computes " in match[0]
        value = producer(op) if is_result or not isinstance(op, CollectiveOp) else last_of_chain(op)
        after = self._shapes.sharding(value)
        yield _spec(after) == match[1] or match[1].startswith("[") or after is None

    def _side(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        """`"x" shards dimension 0 of …` is executed with the way of the axis."""
        yield from ()

    def _divides(self, op: Op, number: int, match: re.Match[str]) -> Iterator[bool]:
        """`"x" has size 8, which does not divide 12, …`."""
        sizes = axis_sizes(self._report.mesh)
        yield int(match[3]) % int(match[2]) != 0
        yield ":" in match[1] or sizes[match[1].strip('"')] == int(match[2])

    # --- Where an axis comes from ---------------------------------------------------------------------

    def _arrival(self, run: PropagationRun, arrival: Arrival) -> Iterator[tuple[bool, str]]:
        """Whether a value has an axis, and has it from these annotations.

        It does not have the axis without them, or has it with them only: others may take their place.
        """
        yield (
            dimension_of(run.final.get(arrival.subject), arrival.axis) == arrival.dim,
            f"{arrival.axis} does not shard it",
        )
        subject = self._advice.subject(arrival.subject, self._record, run)
        places = []
        for source in sources(self._record, run, arrival.subject, arrival.axis):
            place = self._advice.subject(source.subject, self._record, run)
            if place is None or source.annotation.kind not in (
                AnnotationKind.INPUT,
                AnnotationKind.OUTPUT,
                AnnotationKind.CONSTRAINT,
            ):
                return
            # A constraint may be followed by another one.
            places.append(place if annotation_of(place) is not None else place_of(place))
        if subject is None or any(self._edit_without(place, arrival) is None for place in places):
            return
        others = [place for place in self._annotated if place not in places]
        without, only = (self._dimensions(arrival, each, subject) for each in (places, others))
        if without is not None and only is not None:
            is_from_them = arrival.dim not in without or arrival.dim in only
            yield is_from_them, f"{arrival.axis} shards it without {len(places)} annotations"

    def _dimensions(self, arrival: Arrival, places: Sequence[Subject], subject: Subject) -> list[int] | None:
        """The dimensions that an axis shards if these annotations do not have it; None if a pass fails."""
        edits = tuple(filter(None, (self._edit_without(place, arrival) for place in places)))
        if edits not in self._without:
            record, copies = ShardingRecord(), dict[Op, Op]()
            with record.active():
                after = self._trials.partitioned(Change(edits), copies)
            self._without[edits] = None if after is None else (record, copies)
        found = self._without[edits]
        if found is None:
            return None
        if isinstance(subject, BlockArgument) and len(owning_op(subject).regions) != len(
            [region for region in found[1][owning_op(subject)].regions if region.blocks]
        ):
            # A pass has moved the regions of the copy.
            return None
        shardings = _shardings(found[0], copy_of(subject, found[1]))
        return [dimension_of(each, arrival.axis) for each in shardings]

    @cached_property
    def _annotated(self) -> list[Subject]:
        """The places of the annotations of the program."""
        places: list[Subject] = []
        for op in self._advice._module.walk():
            if isinstance(op, ShardingConstraintOp) and isinstance(op.output, OpResult):
                places.append(op.output)
            elif isinstance(op, FuncOp) and not op.is_declaration and not is_private(op):
                places += op.entry.arguments
                places += [FunctionResult(op, number) for number in range(len(op.result_attributes))]
        return [place for place in places if annotation_of(place) is not None]

    def _edit_without(self, place: Subject, arrival: Arrival) -> AnnotationEdit | None:
        sharding = annotation_of(place)
        if sharding is None:
            return None
        mesh = find_mesh(sharding.mesh_or_ref, self._advice._module)
        dims = [
            DimensionSharding(
                tuple([axis for axis in dim.axes if axis.name != arrival.axis.name]), dim.is_closed, None
            )
            for dim in sharding.dims
        ]
        return None if mesh is None else AnnotationEdit(place, sharding.with_dims(tuple(dims)), mesh)


_CHECKS: tuple[tuple[str, Callable[..., Iterator[bool]]], ...] = (
    (r"resharded: (.*) → (.*)$", _Executed._resharded),
    (r'(\w+) (contracts|indexes|slices|reduces over) (?:a )?dimension.*sharded along (".*")', _Executed._sum),
    (r"(result.*?) is sharded (P\(.*\)|\[.*\]): (.*)$", _Executed._result),
    (r"(with_sharding_constraint|reshard|out_sharding.*) requires (.*)$", _Executed._constraint),
    (r"(the program reshards it to) (.*)$", _Executed._constraint),
    (r"([\w.]+): (.*) does not fit (.*)$", _Executed._fit),
    (r"([\w.]+) (?:needs|computes) all of dimension (\d+) of", _Executed._whole),
    (
        r"([\w.]+) splits dimension .* which has (\d+) shards along .*: they do not divide (\d+), "
        r"(the size|a part)",
        _Executed._split,
    ),
    (r".* is on a mesh with another device order", _Executed._device_order),
    (r".*(?: takes .* as| computes .* as| carries it.* as|, are) (P\(.*\)|\[.*\])$", _Executed._takes),
    (r'".*" shards dimension', _Executed._side),
    (r'.*: ("[^ ]*") has size (\d+), which does not divide (\d+)', _Executed._divides),
)


def _sentences(tree: Sentence) -> Iterator[str]:
    """The reasons in an answer, without how an axis came to a value."""
    for child in tree.children:
        yield child.text
        if "does not shard" in child.text:
            yield from (each.text for each in child.children)


def _is_indexed(op: Op, operand: Value, dim: int) -> bool:
    """Whether a gather has an index for a dimension of the operand."""
    assert isinstance(op, GatherOp)
    return operand is op.operands[1] or dim in op.dimension_numbers.start_index_map


def _summed(op: Op) -> Iterator[tuple[Value, int]]:
    """(operand, dimension) of what an operation sums over."""
    if isinstance(op, DotGeneralOp):
        for left, right in op.dot_dimension_numbers.contracting:
            yield op.operands[0], left
            yield op.operands[1], right
    elif isinstance(op, ReduceOp):
        yield from ((operand, dim) for operand in op.operands for dim in op.dimensions)
    elif isinstance(op, GatherOp):
        yield from ((op.operands[0], dim) for dim in op.dimension_numbers.start_index_map)
        whole = op.operands[0].type
        assert isinstance(whole, RankedTensor)
        sizes = enumerate(zip(op.slice_sizes, whole.shape, strict=True))
        yield from ((op.operands[0], dim) for dim, (size, of) in sizes if size < of)
        yield from ((op.operands[0], dim) for dim in op.dimension_numbers.collapsed_slice_dims)
        yield op.operands[1], op.dimension_numbers.index_vector_dim
    else:
        yield from (
            (operand, dim)
            for operand in op.operands
            if isinstance(operand.type, RankedTensor)
            for dim in range(operand.type.rank)
        )


def _spec(sharding: TensorSharding | None, other: TensorSharding | None = None) -> str:
    rank = sharding.rank if sharding is not None else other.rank if other is not None else 0
    return specs_of(dims_text(sharding, rank))


def _bytes(found: Sequence[Any]) -> Fraction:
    return sum((each.wire_bytes or Fraction(0) for each in found), Fraction(0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--random", type=int, default=0, help="so many random programs, too")
    parser.add_argument("programs", nargs="*", type=Path)
    options = parser.parse_args()
    claims = Claims()
    random = {f"random program {seed}": random_executable_program(seed) for seed in range(options.random)}
    for name, program in {**{str(path): path for path in options.programs}, **random}.items():
        try:
            claims_of(program, claims)
        except (sdyopt.Error, AssertionError) as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        if claims.collectives >= options.count:
            break
    print(f"{claims.collectives} collectives, {sum(claims.counts.values())} claims")
    for kind, count in claims.counts.most_common():
        print(f"  {count} {kind}")
    print("not executed:", ", ".join(f"{count} {text!r}" for text, count in claims.others.most_common()))
    print(f"{len(claims.wrong)} false")
    for text in claims.wrong:
        print(f"  {text}")
    return bool(claims.wrong)


if __name__ == "__main__":
    sys.exit(main())
