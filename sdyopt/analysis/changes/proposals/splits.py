"""Proposals for products that are split in parts, such as a fused projection of queries, keys and values.

A shard of such a product lies within one part, so that each part is resharded. If the columns of the weight
are interleaved, or if each part has a weight of its own, each shard has a piece of all parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp, PadOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import LocalBuilder
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# So many operations are between a product and its split at most, such as the addition of a bias.
_MAX_BETWEEN = 8


class _Split(NamedTuple):
    """A dimension of a type that is split in so many equal parts."""

    type: RankedTensor
    dim: int
    parts: int

    @property
    def size(self) -> int:
        """The size of a part."""
        return self.type.shape[self.dim] // self.parts

    def shape(self, parts: int) -> list[int]:
        """The shape with so many of the parts beside each other, in a dimension of their own."""
        shape = self.type.shape
        return [*shape[: self.dim], self.size, parts, *shape[self.dim + 1 :]]

    def number(self, start: int) -> int | None:
        """The number of the part that starts at an element."""
        return None if start % self.size else start // self.size

    def interleave(self, ops: Sequence[Op], copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
        for op in ops:
            copy = copies[op]
            builder = LocalBuilder(copy, rewriter)
            if isinstance(copy, SliceOp):
                whole, rank = self.shape(self.parts), self.type.rank + 1
                number = copy.start_indices[self.dim] // self.size
                starts = [number if dim == self.dim + 1 else 0 for dim in range(rank)]
                limits = [number + 1 if dim == self.dim + 1 else size for dim, size in enumerate(whole)]
                value = builder.slice(builder.reshape(copy.operand_at(0), whole), starts, limits)
                new = builder.reshape(value, _shape(copy.results[0]))
            else:
                parts = [builder.reshape(value, self.shape(1)) for value in _parts(copy)]
                if isinstance(copy, PadOp):
                    number = copy.edge_padding_low[self.dim] // self.size
                    low, high = [0] * (self.type.rank + 1), [0] * (self.type.rank + 1)
                    low[self.dim + 1], high[self.dim + 1] = number, self.parts - 1 - number
                    value = builder.pad(parts[0], copy.padding_value, low, high)
                else:
                    value = builder.concatenate(parts, self.dim + 1)
                new = builder.reshape(value, self.type.shape)
            rewriter.replace(copy, [new])


@proposal("split products", share=1)
def split_products(program: ProposedOn) -> Iterator[Change]:
    """The parts of a product interleaved, at all splits of a line and where their gradients are joined.

    Only if something is sent for the line.
    """
    lines = {line for (line, _, _), size in program.outcome.sent.items() if size}
    slices_of: dict[tuple[object, _Split], list[Op]] = {}
    for op in program.module.walk():
        for value in op.results:
            if (split := _split_of(value)) is not None and _is_of_product(value):
                users = list(dict.fromkeys(value.users))
                slices_of.setdefault((_line(users[0]), split), []).extend(users)
    for (line, split), slices in slices_of.items():
        location = source_location(slices[0].location)
        if location.line and location.path_text not in lines:
            continue
        joins = [op for op in program.module.walk() if _line(op) == line and _joins(op, split)]
        where = f" at {location.file_text}" if location.line else ""
        count = split.parts
        text = f"{count} weights, or one interleaved, for the split{where}"
        words = text, f"reshape to {'x'.join(map(str, split.shape(count)))} before slices"
        yield Change(rewrite=partial(_Split.interleave, split, (*slices, *joins)), words=words, op=slices[0])


def _line(op: Op) -> tuple[object, ...]:
    return source_location(op.location)[:3]


def _split_of(value: Value) -> _Split | None:
    """How all users of a value slice it; None if they do not, or not in equal parts."""
    users = list(dict.fromkeys(value.users))
    if len(users) < 2 or not isinstance(value.type, RankedTensor):
        return None
    splits: set[tuple[int, int]] = set()
    for user in users:
        if not isinstance(user, SliceOp) or set(user.strides) != {1}:
            return None
        shape = _shape(user.results[0])
        dims = [dim for dim, size in enumerate(shape) if size != value.type.shape[dim]]
        if len(dims) != 1 or not shape[dims[0]] or value.type.shape[dims[0]] % shape[dims[0]]:
            return None
        splits.add((dims[0], value.type.shape[dims[0]] // shape[dims[0]]))
    if len(splits) != 1:
        return None
    split = _Split(value.type, *splits.pop())
    starts = [split.number(user.start_indices[split.dim]) for user in users if isinstance(user, SliceOp)]
    return None if None in starts else split


def _is_of_product(value: Value) -> bool:
    """Whether a value is a product, or computed elementwise from one."""
    for _ in range(_MAX_BETWEEN):
        op = value.defining_op
        if isinstance(op, DotGeneralOp):
            return True
        if op is None or not (isinstance(op, ShardingConstraintOp) or is_elementwise(op.signature)):
            return False
        value = op.operand_at(0)
    return False


def _joins(op: Op, split: _Split) -> bool:
    """Whether an operation puts the gradients of parts beside each other."""
    if isinstance(op, ConcatenateOp):
        sizes = {type.shape[split.dim] for type in op.operand_types if isinstance(type, RankedTensor)}
        return op.result_types[0] is split.type and op.dimension == split.dim and sizes == {split.size}
    if not isinstance(op, PadOp) or op.result_types[0] is not split.type or set(op.interior_padding) != {0}:
        return False
    before = op.operand_types[0]
    shape = [*split.type.shape]
    shape[split.dim] = split.size
    is_part = isinstance(before, RankedTensor) and list(before.shape) == shape
    return is_part and split.number(op.edge_padding_low[split.dim]) is not None


def _parts(op: Op) -> Sequence[Value]:
    return op.operands[:1] if isinstance(op, PadOp) else op.operands


def _shape(value: Value) -> Sequence[int]:
    assert isinstance(value.type, RankedTensor)
    return value.type.shape
