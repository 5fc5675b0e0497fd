"""The seconds that operations take with given shardings.

    prices = Prices(module, passes, topology)
    prices.find({key: operation})      # all at once
    prices.of[key].own

What an operation sends depends on its own shardings: those of its operands and results after propagation. So
operations are partitioned together, as one program in which none uses the result of another.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import Any

from sdyopt.analysis.changes.effect import seconds_between_steps
from sdyopt.analysis.figures.boundary import RESHARDS
from sdyopt.analysis.figures.execution_counts import MAIN
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.product_collectives import counted_collectives, counted_products
from sdyopt.analysis.figures.program_report import report_unless
from sdyopt.analysis.figures.topology import Topology
from sdyopt.base.context import keeping
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, handling
from sdyopt.base.diagnostics.location import FileLoc, Location
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.ir.attribute import EMPTY_DICT, ArrayAttr, StringAttr, SymbolRef, TypeAttr, dictionary
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_builder import clone
from sdyopt.mlir.ir.operation import UNKNOWN, Op, build
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import FunctionType, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# The first pass after propagation that changes no sharding of an argument.
_FIRST = "sdy-close-shardings"
# An elementwise operation reads its operand, and writes its result.
_PASSES = 2
# The file name of the locations of operations, whose lines are their numbers.
_NAME = "price"


class Price(NamedTuple):
    """What an operation takes with given shardings, in seconds of one run.

    `reshards` are those of operands: operations share those of one value with one target. `whole` are the
    seconds that it takes to move the whole tensors of those of its results, `flops` those of a device, and
    `wire_bytes` what that sends for it, without its reshards of operands.
    """

    own: float = 0.0
    reshards: tuple[PricedReshard, ...] = ()
    whole: float = 0.0
    flops: int = 0
    wire_bytes: float = 0.0


class PricedReshard(NamedTuple):
    """What a reshard of an operand takes, what it takes to move its whole tensors, and what it sends."""

    position: int
    target: TensorSharding
    seconds: float
    whole: float
    wire_bytes: float


class Priced(NamedTuple):
    """An operation, or a reshard of a value of a type.

    `constants` has the constants among its operands, None for others.
    """

    op: Op | None
    rule: OpShardingRule | None
    constants: tuple[Op | None, ...]
    type: Type

    def kind(self) -> Hashable:
        """What is equal for operations that take the same with the same shardings."""
        if self.op is None:
            return self.type
        constants = tuple(
            [None if constant is None else _signatures(constant) for constant in self.constants]
        )
        # In a computation on scalars, such as that of a reduction, only what is computed counts.
        nested = tuple([op.signature for op in self.op.walk()]) if self.op.regions else ()
        return self.op.signature, self.rule, constants, nested

    def is_free(self, shardings: Sequence[TensorSharding | None]) -> bool:
        """Whether nothing is sent: what is computed elementwise is sharded alike, or nothing comes in."""
        is_simple = self.op is None or not self.constants or is_elementwise(self.op.signature)
        return (
            is_simple
            and len(set(shardings)) < 2
            and not any(sharding and sharding.unreduced_axes for sharding in shardings)
        )


# The kind of an operation, and the shardings of its operands and results.
Key = tuple[Hashable, tuple[TensorSharding | None, ...]]


class Prices:
    """The prices of operations of a program, by keys. `passes` are those after propagation.

    `kept` is what runs of these passes share.
    """

    def __init__(
        self, module: ModuleOp, passes: Pipeline, machine: Topology, kept: dict[Hashable, dict[Any, Any]]
    ) -> None:
        self.of: dict[Key, Price] = {}
        self._module = module
        self._passes = _without_boundary(passes)
        self._machine = machine
        self._kept = kept
        bandwidth = machine.memory_bandwidth
        # Of what an elementwise operation reads and writes, at most.
        self.seconds_of_byte = _PASSES / float(bandwidth) if bandwidth else inf

    def seconds_between_steps(self, mesh: str) -> Fraction:
        """The seconds of a byte that is sent between steps, on a mesh as reports print it."""
        return seconds_between_steps(self._machine.on(mesh), mesh)

    def find(self, asked: Mapping[Key, Priced]) -> None:
        """Finds the prices of operations."""
        new = {key: priced for key, priced in asked.items() if key not in self.of}
        free = {key for key, priced in new.items() if priced.is_free(key[1])}
        self.of.update(dict.fromkeys(free, Price()))
        if len(free) < len(new):
            self._find({key: priced for key, priced in new.items() if key not in free})

    def _find(self, new: Mapping[Key, Priced]) -> None:
        program = _Program(self._module, new)
        try:
            with handling(lambda _: None), keeping(self._kept):
                succeeded = run_pipeline(self._passes, program.module, None)
        except DiagnosticError:
            succeeded = False
        if succeeded:
            self.of.update(program.prices(self._machine))
        elif len(new) == 1:
            self.of.update(dict.fromkeys(new, Price()))
        else:
            keys = list(new)
            for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
                self._find({key: new[key] for key in half})


class _Program:
    """A program of operations, each on arguments of its own."""

    def __init__(self, module: ModuleOp, priced: Mapping[Key, Priced]) -> None:
        self._keys = list(priced)
        self._rewriter = Rewriter()
        top = build(module.signature, [], module.attributes, regions=(Region(),))
        assert isinstance(top, ModuleOp)
        self.module = top
        end = top.body.add_block()
        for op in module.block.ops:
            if isinstance(op, MeshOp):
                self._rewriter.insert(clone(op, {}, {}), at_end_of=end)
                self._mesh = SymbolRef(op.sym_name)
        body = Region()
        self._block = body.add_block()
        self._shardings: list[TensorSharding | None] = []
        # The number of the key and the position of the operand of each argument.
        self._positions: list[tuple[int, int]] = []
        returned: list[Value] = []
        result_shardings: list[TensorSharding | None] = []
        for number, (key, item) in enumerate(priced.items()):
            op, shardings = self._add(number, item, key[1])
            returned += op.results
            result_shardings += shardings
        self._rewriter.create(ReturnOp, returned, at_end_of=self._block)
        types = [argument.type for argument in self._block.arguments], [value.type for value in returned]
        attributes = {
            "sym_name": StringAttr(MAIN),
            "function_type": TypeAttr(FunctionType(*map(tuple, types))),
            "arg_attrs": _attributes(self._shardings),
            "res_attrs": _attributes(result_shardings),
        }
        self._rewriter.create(FuncOp, (), (), attributes, regions=[body], at_end_of=end)

    def _add(
        self, number: int, priced: Priced, shardings: Sequence[TensorSharding | None]
    ) -> tuple[Op, Sequence[TensorSharding | None]]:
        """Adds an operation. Returns it, and the shardings of its results."""
        count = len(priced.constants)
        types = [priced.type] if priced.op is None else [value.type for value in priced.op.operands]
        operands = [
            self._argument(number, position, type, sharding)
            if constant is None
            else self._constant(constant, sharding)
            for position, (type, sharding, constant) in enumerate(
                zip(types, shardings[:count], priced.constants, strict=True)
            )
        ]
        if priced.op is None:
            target = shardings[1] or self._replicated(priced.type)
            made = self._rewriter.create(
                ReshardOp,
                operands,
                types,
                {"sharding": target},
                at_end_of=self._block,
                location=_numbered(number),
            )
            return made, [target]
        copy = clone(priced.op, dict(zip(priced.op.operands, operands, strict=True)), {})
        entries = {
            name: attribute
            for name, attribute in priced.op.attributes
            if name not in (SHARDING, SHARDING_RULE)
        }
        results = self._of_results(copy, shardings[count:])
        if any(results):
            entries[SHARDING] = ShardingPerValue(tuple(filter(None, results)))
        if priced.rule is not None:
            entries[SHARDING_RULE] = priced.rule
        copy.attributes = dictionary(entries)
        self._rewriter.insert(copy, at_end_of=self._block)
        self._rewriter.set_location(copy, _numbered(number))
        return copy, results

    def _argument(self, number: int, position: int, type: Type, sharding: TensorSharding | None) -> Value:
        self._shardings.append(sharding)
        self._positions.append((number, position))
        return self._block.add_argument(type, UNKNOWN)

    def _constant(self, op: Op, sharding: TensorSharding | None) -> Value:
        values = {value: self._constant(made, None) for value in op.operands if (made := value.defining_op)}
        copy = clone(op, values, {})
        entries = {} if sharding is None else {SHARDING: ShardingPerValue((sharding,))}
        copy.attributes = dictionary(entries)
        self._rewriter.insert(copy, at_end_of=self._block)
        return copy.results[0]

    def _of_results(
        self, op: Op, shardings: Sequence[TensorSharding | None]
    ) -> Sequence[TensorSharding | None]:
        """The shardings of results, which are in one attribute: those of all, or of none."""
        if not any(shardings):
            return shardings
        return [
            sharding or self._replicated(value.type)
            for sharding, value in zip(shardings, op.results, strict=True)
        ]

    def _replicated(self, type: Type) -> TensorSharding:
        return fully_replicated(rank_of(type), self._mesh, is_closed=True)

    # --- After the passes ---------------------------------------------------------------------------

    def prices(self, machine: Topology) -> dict[Key, Price]:
        """The prices of the operations, after the passes."""
        reports: list[Report] = []

        def keep(report: Report) -> bool:
            reports.append(report)
            return True

        report_unless(self.module, machine, keep, is_described=False)
        (report,) = reports
        assert report.time is not None
        seconds = dict.fromkeys(self.module.walk(), 0.0)
        whole, sent, flops = dict(seconds), dict(seconds), dict.fromkeys(seconds, 0)
        topology = machine.on(report.mesh)
        ops = counted_collectives(self.module)
        for op, collective, timed in zip(ops, report.collectives, report.time.collectives, strict=True):
            seconds[op] += float(timed.seconds or 0)
            sent[op] += float(collective.wire_bytes or 0)
            bandwidth = topology.link(collective.axis_names).bandwidth
            if isinstance(op, RESHARDS) and collective.wire_bytes and bandwidth is not None:
                whole[op] += float((bytes_of(op.result_types[0]) or 0) / bandwidth)
        products = zip(counted_products(self.module), report.products, report.time.products, strict=True)
        for op, product, computed in products:
            seconds[op] += float(computed.seconds or 0)
            flops[op] += product.flops or 0
        own = [Price() for _ in self._keys]
        # The operand that a value is a reshard of; else only the number.
        reshards: dict[tuple[int, int], PricedReshard] = {}
        places: dict[Value, tuple[int, int | None]] = {}
        function = next(op for op in self.module.block.ops if isinstance(op, FuncOp))
        places.update(zip(function.entry.arguments, self._positions, strict=True))
        for op in function.entry.ops:
            place = next((places[value] for value in op.operands if value in places), None)
            if place is None and (number := _number(op)) is not None:
                place = number, None
            if place is None:
                continue
            number, position = place
            cost = sum(seconds[item] for item in op.walk())
            if isinstance(op, CollectiveOp) and position is not None:
                nothing = PricedReshard(position, op.out_sharding, 0.0, 0.0, 0.0)
                before = reshards.get((number, position), nothing)
                reshards[number, position] = PricedReshard(
                    position,
                    op.out_sharding,
                    before.seconds + cost,
                    before.whole + whole[op],
                    before.wire_bytes + sent[op],
                )
            else:
                alone = own[number]
                own[number] = alone._replace(
                    own=alone.own + cost,
                    whole=alone.whole + sum(whole[item] for item in op.walk()),
                    flops=alone.flops + sum(flops[item] for item in op.walk()),
                    wire_bytes=alone.wire_bytes + sum(sent[item] for item in op.walk()),
                )
                place = number, None
            places.update(dict.fromkeys(op.results, place))
        rows: list[list[PricedReshard]] = [[] for _ in self._keys]
        for (number, _), reshard in reshards.items():
            if reshard.seconds:
                rows[number].append(reshard)
        return {
            key: price._replace(reshards=tuple(moved))
            for key, price, moved in zip(self._keys, own, rows, strict=True)
        }


def _without_boundary(passes: Pipeline) -> Pipeline:
    """The passes from the one that closes shardings on; those before it change those of arguments."""
    elements = passes.merged().elements
    start = next(
        (n for n, pipeline in enumerate(elements) if isinstance(pipeline, Pass) and pipeline.flag == _FIRST),
        0,
    )
    return Pipeline(passes.anchor, elements[start:])


def _attributes(shardings: Sequence[TensorSharding | None]) -> ArrayAttr:
    return ArrayAttr(
        tuple(
            [EMPTY_DICT if sharding is None else dictionary({SHARDING: sharding}) for sharding in shardings]
        )
    )


def _signatures(constant: Op) -> Hashable:
    """What is equal for equal constants, or broadcasts of them."""
    made = (value.defining_op for value in constant.operands)
    return constant.signature, *(op.signature for op in made if op is not None)


def _numbered(number: int) -> Location:
    return FileLoc(_NAME, number + 1, 1)


def _number(op: Op) -> int | None:
    location = op.location
    return location.line - 1 if isinstance(location, FileLoc) and location.file == _NAME else None
