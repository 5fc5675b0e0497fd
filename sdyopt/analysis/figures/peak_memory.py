"""Peak memory of a program on one device: its arguments, its results, and the buffers that are live at once.

Arguments and results take memory during the whole run, as they do for XLA's runtimes; a result takes none
of its own if an argument is donated to it. Between them, `buffers.py` says which values get a buffer, and
from where to where it is live. Results of functions that no call uses take nothing, nor does what only they
depend on. At an operation with regions that run as parts of the program, the highest peak of these regions
is added; at a call, that of the callee. Arguments of regions and callees are not counted: they are
operands, which are live outside. Neither are the results of regions, which are those of the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from math import prod

from sdyopt.analysis.figures.buffers import BlockBuffers, Buffer, DeadResults, aligned
from sdyopt.analysis.figures.execution_counts import callee_of, nested_regions
from sdyopt.analysis.figures.flops import flops_of
from sdyopt.analysis.figures.fusion import ON_CHIP, PRODUCTS, Fusion, is_same_fusion
from sdyopt.analysis.figures.local_shapes import LocalShapes, bytes_of, padded_to_tiles
from sdyopt.analysis.figures.loop_invariants import converted_slice
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.base.dataclasses import dataclass, field, replace
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo.control_flow import CompositeOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import BlockArgument, Value

_CALLS = (CallOp, CompositeOp)
# The behaviours of compilers on which the memory depends.
_BEHAVIORS = (
    CompilerBehavior.CONSTANTS_IN_LOOPS,
    CompilerBehavior.CONVERTS_BEFORE_LOOPS,
    CompilerBehavior.CONVERTS_BEFORE_SENDING,
    CompilerBehavior.COPIES_GATHERED,
    CompilerBehavior.COPIES_GATHERED_MINOR,
    CompilerBehavior.FUSES_INTO_PRODUCTS,
    CompilerBehavior.FUSES_SIMPLE_INTO_PRODUCTS,
    CompilerBehavior.GAPS_BETWEEN_BUFFERS,
    CompilerBehavior.KEEPS_SOFTMAX,
    CompilerBehavior.LOOKS_UP_LATE,
    CompilerBehavior.ONE_HOT_SCATTERS,
    CompilerBehavior.ON_CHIP_MEMORY,
    CompilerBehavior.OVERLAPS_SCATTERS,
    CompilerBehavior.PADS_TO_TILES,
    CompilerBehavior.PRODUCTS_OF_BF16,
    CompilerBehavior.RECOMPUTES_TRANSCENDENTALS,
    CompilerBehavior.SUMS_AFTER_LOOPS,
    CompilerBehavior.SUMS_IN_PLACE,
    CompilerBehavior.SUMS_IN_PRODUCTS,
    CompilerBehavior.WRITES_FOR_MOVES,
)
ALIASING_OUTPUT = "tf.aliasing_output"
BUFFER_DONOR = "jax.buffer_donor"
NO_DONORS: dict[int, int] = {}
# What is live for longer than it takes to copy it so many times is copied to the device's memory and read
# there. If all fits well, with a quarter to spare, only some of it is: the square of the share of the on-chip
# memory that is taken. If all just fits, what is larger than this is.
_COPIES = 5
_LARGEST = 10 << 20
_SPARE = 4
# The FLOPs that a v5e computes while its memory moves a byte: 197 TFLOP/s, 819 GB/s.
_FLOPS_PER_BYTE = 240
# Temporaries of so many bytes may be in the buffer of a result until that is computed.
_IN_RESULTS = 16 << 20
# So many results and temporaries are looked at for that, the smallest results and the largest temporaries.
_MOST_IN_RESULTS = 512
# Where not all fits, smaller temporaries are not looked at, so that few are placed at the same time.
_SMALLEST = ON_CHIP >> 14
# A convolution has features and batch as minor dimensions, however many lanes stay empty, if the batch fills
# tiles; images of few colours have others.
_FULL_BATCH, _FULL_FEATURES = 8, 32
# The percentage of bytes between temporaries, the median of 27 compiled blocks of models.
_GAPS = 3


@dataclass(slots=True)
class Peak:
    """The largest number of live bytes in a block, the operation where that is, and the buffers live there.

    `live` are the buffers of this block only; `nested` is the peak in a region or the callee of `op`. `curve`
    is the number of bytes at each operation of the block, `inner` the peaks in operations of it, by position,
    and `buffers` are those of the block. So many bytes more are in on-chip memory at the peak.
    """

    bytes: int = 0
    op: Op | None = None
    live: list[Buffer] = field(default_factory=list)
    nested: Peak | None = None
    curve: list[tuple[Op, int]] = field(default_factory=list)
    inner: dict[int, Peak] = field(default_factory=dict)
    buffers: list[Buffer] = field(default_factory=list)
    on_chip: int = 0


def memory_behaviors(compiler: str) -> frozenset[CompilerBehavior]:
    """What of a compiler the memory depends on: two with the same behaviours need the same."""
    return frozenset(behavior for behavior in _BEHAVIORS if behavior.holds(compiler))


class LiveMemory:
    """Peaks of the functions of a module. Values of unknown size count as 0 bytes and are collected.

    One that `keeps_fusions` hands those of blocks to the first other compiler that fuses alike.
    """

    def __init__(
        self,
        functions: Sequence[FuncOp],
        shapes: LocalShapes,
        dead: DeadResults,
        behaviors: frozenset[CompilerBehavior],
        square: int = 0,
        *,
        keeps_fusions: bool = False,
    ) -> None:
        self._keeps_fusions = keeps_fusions
        self._fusions: dict[Block, Fusion] = {}
        self._shapes = shapes
        self._square = square
        self._dead = dead
        self._behaviors = behaviors
        self._on_chip_bytes = ON_CHIP if CompilerBehavior.ON_CHIP_MEMORY in behaviors else 0
        self._pads = CompilerBehavior.PADS_TO_TILES in behaviors
        self._convolved = _minor_dims_of_convolutions(functions, shapes) if self._pads else {}
        self._leaves_gaps = CompilerBehavior.GAPS_BETWEEN_BUFFERS in behaviors
        self._converts_before_loops = CompilerBehavior.CONVERTS_BEFORE_LOOPS in behaviors
        self._copies_gathered = CompilerBehavior.COPIES_GATHERED in behaviors
        self._copies_minor = CompilerBehavior.COPIES_GATHERED_MINOR in behaviors
        self._bytes: dict[Value, int] = {}
        self._sizes: dict[tuple[Type, TensorSharding | None, bool], int] = {}
        self._of_callee: dict[FuncOp, Peak] = {}
        self._being_measured: set[FuncOp] = set()
        self.unknown_values: set[Value] = set()

    def with_behaviors(
        self, functions: Sequence[FuncOp], behaviors: frozenset[CompilerBehavior]
    ) -> LiveMemory:
        """The same functions with another compiler."""
        other = LiveMemory(functions, self._shapes, self._dead, behaviors)
        if is_same_fusion(behaviors, self._behaviors):
            # They take much memory.
            other._fusions, self._fusions = self._fusions, {}
            other._bytes = self._bytes
        return other

    def bytes(self, value: Value) -> int:
        """Bytes of a value on one device; 0 if unknown."""
        number = self._bytes.get(value)
        if number is None:
            number = self._bytes[value] = self._size(value)
        return number

    def _size(self, value: Value) -> int:
        # Arguments are laid out so that little is padded, and copied for a convolution.
        is_argument = isinstance(value, BlockArgument)
        key = value.type, self._shapes.sharding(value), is_argument
        size = self._sizes.get(key)
        if size is None:
            shape = self._shapes.shape_of(value.type, key[1])
            size = bytes_of(value.type, shape)
            if size is None:
                self.unknown_values.add(value)
                return 0
            if self._pads and shape is not None:
                size = padded_to_tiles(size, shape, None if is_argument else self._convolved.get(shape))
            self._sizes[key] = size
        return size

    def function(self, function: FuncOp) -> Peak:
        """The peak of an entry function, its arguments and results included."""
        blocks = function.body.blocks
        if len(blocks) > 1:
            return max([self._block(block, set()) for block in blocks], key=lambda peak: peak.bytes)
        donated = donations(function, self.bytes)
        donors = {result: argument for argument, result in donated.items()}
        results = {} if blocks[0].last is None else dict(enumerate(blocks[0].last.operands))
        held = [
            *blocks[0].arguments,
            *(value for index, value in results.items() if index not in donors),
        ]
        peak = self._block(blocks[0], set(donated), held, donors)
        if self._leaves_gaps:
            temporaries = peak.bytes - sum(map(self.bytes, held))
            peak.bytes += max(temporaries, 0) * _GAPS // 100
        return peak

    def _callee(self, function: FuncOp) -> Peak:
        """The memory of a called function besides its arguments and results; nothing for recursion."""
        if function in self._being_measured:
            return Peak()
        if function not in self._of_callee:
            self._being_measured.add(function)
            self._of_callee[function] = self._region(function.body)
            self._being_measured.discard(function)
        return self._of_callee[function]

    def _region(self, region: Region) -> Peak:
        peaks = [self._block(block, set(range(len(block.arguments)))) for block in region.blocks]
        return max(peaks, key=lambda peak: peak.bytes, default=Peak())

    def _block(
        self,
        block: Block,
        may_write: set[int],
        held: Sequence[Value] = (),
        donors: Mapping[int, int] = NO_DONORS,
    ) -> Peak:
        """The peak of a block.

        `held` are values that are live in all of it, `donors` the arguments whose memory results take.
        """
        ops = [op for op in block.ops if op not in self._dead.ops]
        if not ops:
            return Peak()
        buffers = BlockBuffers(
            block, ops, may_write, self.bytes, self._behaviors, self._fusion(block, ops, may_write)
        )
        outside = {id(buffer) for buffer in self._of_results(block, buffers, donors)}
        counted = [Buffer(value, 0, len(ops) - 1, self.bytes(value)) for value in held]
        counted += [
            buffer
            for buffer in buffers.allocated
            if id(buffer) not in outside
            and buffer.end >= buffer.start
            and buffer.value not in self._dead.values
        ]
        if self._converts_before_loops:
            counted += self._converted_before_loops(ops)
        if held:
            counted += self._copied_for_results(block, buffers, donors)
            if any(isinstance(op, WhileOp) for op in ops):
                counted = self._without_those_in_results(counted, len(held), block, buffers, donors)
        nested = [self._nested(op) if op.regions or isinstance(op, _CALLS) else None for op in ops]
        totals = [
            live + (0 if peak is None else peak.bytes)
            for live, peak in zip(_live_bytes(counted, len(ops)), nested, strict=True)
        ]
        chip = None
        on_chip = [0] * len(ops)
        if self._on_chip_bytes:
            work = [self._moved_meanwhile(op) if type(op) in PRODUCTS else 0 for op in ops]
            chip = _OnChip(ops, counted[len(held) :], nested, self._on_chip_bytes, work)
            on_chip = chip.bytes
            totals = [total - part for total, part in zip(totals, on_chip, strict=True)]
        at = max(range(len(ops)), key=totals.__getitem__)
        inner = nested[at]
        temporaries = [buffer for buffer in counted[len(held) :] if buffer.start <= at <= buffer.end]
        if chip is not None and on_chip[at]:
            live, temporaries = temporaries, chip.others(temporaries)
            inside = sum(buffer.bytes for buffer in live) - sum(buffer.bytes for buffer in temporaries)
            totals[at], on_chip[at] = totals[at] + on_chip[at] - inside, inside
        return Peak(
            totals[at],
            ops[at],
            [*counted[: len(held)], *temporaries],
            inner,
            list(zip(ops, totals, strict=True)),
            {index: peak for index, peak in enumerate(nested) if peak is not None},
            counted,
            on_chip[at] + (0 if inner is None else inner.on_chip),
        )

    def _fusion(self, block: Block, ops: Sequence[Op], may_write: set[int]) -> Fusion:
        fusion = self._fusions.get(block)
        if fusion is None:
            shape_of, is_held = self._shapes.shape, lambda argument: argument.index not in may_write
            fusion = Fusion(ops, self.bytes, shape_of, is_held, self._behaviors, self._is_late)
            if self._keeps_fusions:
                self._fusions[block] = fusion
        return fusion

    def _moved_meanwhile(self, product: Op) -> int:
        """The bytes that the memory moves while a product is computed, its operands and result among them."""
        values = *product.operands, product.results[0]
        moved = sum(map(self.bytes, values))
        shapes = [shape for value in values if (shape := self._shapes.shape(value)) is not None]
        if len(shapes) != 3:
            return moved
        return max(moved, (flops_of(product, *shapes) or 0) // _FLOPS_PER_BYTE)

    def _is_late(self, scatter: ReduceScatterOp) -> bool:
        """Whether a reduce-scatter ends when its result is read, and is not an all-reduce instead."""
        if CompilerBehavior.OVERLAPS_SCATTERS not in self._behaviors:
            return False
        mesh = self._shapes.mesh(scatter.out_sharding.mesh_or_ref)
        axes = scatter.reduce_scatter_axes.axes
        return mesh is None or prod(axis.size(mesh) for axis in axes) != self._square

    def _converted_before_loops(self, ops: Sequence[Op]) -> Iterator[Buffer]:
        """The buffers of what loops slice and convert, of the type that they convert to, for all loops."""
        buffers: dict[Value, Buffer] = {}
        loops = [(position, op) for position, op in enumerate(ops) if isinstance(op, WhileOp)]
        for position, loop in loops:
            for index, operand in enumerate(loop.operands):
                if operand in buffers:
                    buffers[operand].end = position
                elif (slice := converted_slice(loop, index)) is not None:
                    size = (
                        self.bytes(operand) * self.bytes(slice) // max(self.bytes(slice.op.operand_at(0)), 1)
                    )
                    buffers[operand] = Buffer(slice, position, position, aligned(size))
        yield from buffers.values()

    def _without_those_in_results(
        self,
        counted: Sequence[Buffer],
        held: int,
        block: Block,
        buffers: BlockBuffers,
        donors: Mapping[int, int],
    ) -> list[Buffer]:
        """Without the temporaries that are in the buffers of results before these are computed."""
        assert block.last is not None
        results = [
            buffer
            for index, value in enumerate(block.last.operands)
            if index not in donors and (buffer := buffers.buffer(value)) is not None and buffer.value is value
        ]
        # The smallest result first, and what is in its buffer.
        results.sort(key=lambda result: result.bytes)
        rooms = [(result, list[Buffer]()) for result in results if result.bytes >= _IN_RESULTS]
        inside = set[int]()
        large = [temporary for temporary in counted[held:] if temporary.bytes >= _IN_RESULTS]
        for temporary in sorted(large, key=lambda one: -one.bytes)[:_MOST_IN_RESULTS]:
            for result, others in rooms[:_MOST_IN_RESULTS]:
                is_apart = all(temporary.end < other.start or other.end < temporary.start for other in others)
                if temporary.bytes <= result.bytes and temporary.end < result.start and is_apart:
                    others.append(temporary)
                    inside.add(id(temporary))
                    break
        return [buffer for buffer in counted if id(buffer) not in inside]

    def _copied_for_results(
        self, block: Block, buffers: BlockBuffers, donors: Mapping[int, int]
    ) -> Iterator[Buffer]:
        """The buffers of what is gathered and copied to results, and of arguments that are copied for it."""
        if block.last is None:
            return
        for index, value in enumerate(block.last.operands):
            gathered = buffers.buffer(value)
            if gathered is None or gathered.value is not value or not self._is_copied(value):
                continue
            if self._copies_minor:
                yield replace(gathered, end=gathered.start)
                continue
            yield gathered
            if index in donors:
                old = buffers.buffer(block.arguments[donors[index]])
                if old is not None and 0 <= old.end < gathered.start:
                    yield Buffer(value, 0, old.end, old.bytes)

    def _is_copied(self, result: Value) -> bool:
        """Whether a result of the program is gathered in another place than where it is returned."""
        op = result.defining_op
        shape = self._shapes.shape(result)
        if shape is None or not isinstance(op, AllGatherOp):
            return False
        if self._copies_minor:
            return any(axes.axes and prod(shape[:dim]) > 1 for dim, axes in enumerate(op.gathering_axes))
        return self._copies_gathered

    def _of_results(self, block: Block, buffers: BlockBuffers, donors: Mapping[int, int]) -> Iterator[Buffer]:
        """The buffers of a block that are those of the results of the operation or function around it."""
        if block.last is None:
            return
        loop = block.parent_op if isinstance(block.parent_op, WhileOp) else None
        if loop is not None and block.parent is loop.cond:
            return
        for index, value in enumerate(block.last.operands):
            buffer = buffers.buffer(value)
            if buffer is None:
                continue
            if index in donors:
                # A result takes the memory of an argument only after the last use of the argument.
                old = buffers.buffer(block.arguments[donors[index]])
                if old is not None and buffer is not old and not buffers.may_replace(buffer, old):
                    continue
            if loop is not None:
                # A new value is written over the old one, unless that is still used.
                old = buffers.buffer(block.arguments[index])
                if old is not None and buffer is not old and buffer.start <= old.end:
                    continue
            yield buffer

    def _nested(self, op: Op) -> Peak | None:
        if isinstance(op, CallOp | CompositeOp):
            callee = callee_of(op)
            return None if callee is None else self._callee(callee)
        peaks = [self._region(region) for region in nested_regions(op)]
        return max(peaks, key=lambda peak: peak.bytes, default=None)


def _live_bytes(buffers: Iterable[Buffer], count: int) -> Iterator[int]:
    """The bytes of the buffers that are live at each of `count` operations."""
    # The bytes that become live at each operation, less those of the buffers that end before it.
    changes = [0] * (count + 1)
    for buffer in buffers:
        changes[buffer.start] += buffer.bytes
        changes[buffer.end + 1] -= buffer.bytes
    return islice(accumulate(changes), count)


def _minor_dims_of_convolutions(
    functions: Sequence[FuncOp], shapes: LocalShapes
) -> dict[tuple[int, ...], tuple[int, int]]:
    """The minor dimension, and the one before it, of each shape that a convolution takes or gives.

    These are features and batch if they fill tiles. The gradient of a kernel takes the batch for features, so
    the first convolution of a shape decides.
    """
    minor_dims: dict[tuple[int, ...], tuple[int, int]] = {}
    for op in (op for function in functions for op in function.walk()):
        if isinstance(op, ConvolutionOp):
            dims = op.dimension_numbers
            assert dims is not None, "verified"
            for value, batch, feature in (
                (op.lhs, dims.input_batch_dimension, dims.input_feature_dimension),
                (op.result, dims.output_batch_dimension, dims.output_feature_dimension),
            ):
                shape = shapes.shape_of(value.type, shapes.sharding(value))
                if shape is not None and shape[batch] >= _FULL_BATCH and shape[feature] >= _FULL_FEATURES:
                    minor_dims.setdefault(shape, (feature, batch))
    return minor_dims


class _OnChip:
    """The temporaries of a block that are in on-chip memory, whose number of `bytes` is known by operation.

    What an operation runs has its share first, then what is not live for long. If the memory is crowded,
    nothing is there that is live across a loop, nor for long, unless it is small, all fits, and no loop runs
    the block. `work` is that of the products, in bytes moved meanwhile.
    """

    def __init__(
        self,
        ops: Sequence[Op],
        temporaries: Sequence[Buffer],
        nested: Sequence[Peak | None],
        capacity: int,
        work: Sequence[int],
    ) -> None:
        self._work = list(accumulate(work, initial=0))
        self._loops = list(accumulate((isinstance(op, WhileOp) for op in ops), initial=0))
        most = max(_live_bytes(temporaries, len(ops)))
        self._is_crowded = _SPARE * most > (_SPARE - 1) * capacity
        self._small_stay = most <= capacity and not isinstance(ops[0].parent_op, WhileOp)
        share_left = 1 - (most / capacity) ** 2
        # The bytes on the chip, by the identity of a temporary.
        self._parts: dict[int, int] = {}
        room = [capacity - (0 if peak is None else peak.on_chip) for peak in nested]
        free = list(room)
        fitting = [temporary for temporary in temporaries if _SMALLEST <= temporary.bytes <= capacity]
        if not self._is_crowded and most <= min(room):
            # All fit all the time.
            self._parts = {id(one): self._part(one, share_left) for one in temporaries}
            parts = [replace(one, bytes=self._parts[id(one)]) for one in temporaries]
            self.bytes = list(_live_bytes(parts, len(ops)))
            return
        for temporary in sorted(fitting, key=lambda one: (self._is_long(one), one.bytes)):
            start, end = temporary.start, temporary.end + 1
            if self._is_crowded and not self._may_stay(temporary):
                continue
            part = self._part(temporary, share_left)
            # Most of what does not fit does not in the middle.
            if free[(start + end) // 2] >= part and min(free[start:end]) >= part:
                self._parts[id(temporary)] = part
                free[start:end] = [left - part for left in free[start:end]]
        self.bytes = [whole - left for whole, left in zip(room, free, strict=True)]

    def _part(self, temporary: Buffer, share_left: float) -> int:
        """The bytes of a temporary that are on the chip if it is there."""
        is_divided = not self._is_crowded and self._is_long(temporary)
        return int(temporary.bytes * share_left) if is_divided else temporary.bytes

    def _is_long(self, temporary: Buffer) -> bool:
        """Whether a temporary is live for longer than it is kept on the chip for."""
        start, end = temporary.start, temporary.end
        return self._work[end] - self._work[min(start + 1, end)] > _COPIES * temporary.bytes

    def _may_stay(self, temporary: Buffer) -> bool:
        crosses_loop = self._loops[temporary.end + 1] != self._loops[temporary.start]
        is_small = self._small_stay and temporary.bytes <= _LARGEST
        return not crosses_loop and (is_small or not self._is_long(temporary))

    def others(self, temporaries: Iterable[Buffer]) -> list[Buffer]:
        """The parts of those temporaries that are in the device's memory."""
        left = []
        for temporary in temporaries:
            part = self._parts.get(id(temporary), 0)
            if part < temporary.bytes:
                left.append(replace(temporary, bytes=temporary.bytes - part))
        return left


def aliased_results(function: FuncOp) -> dict[int, int]:
    """The arguments of an entry function with `tf.aliasing_output`, and the numbers of these results."""
    aliases = (
        (index, dictionary.get(ALIASING_OUTPUT))
        for index, dictionary in enumerate(function.argument_attributes)
    )
    results = range(len(function.result_attributes))
    return {
        index: alias.value
        for index, alias in aliases
        if isinstance(alias, IntegerAttr) and alias.value in results
    }


def donations(function: FuncOp, bytes_of: Callable[[Value], int]) -> dict[int, int]:
    """The arguments of an entry function whose memory a result takes, and the numbers of these results.

    JAX writes `tf.aliasing_output` where the types are equal, and else `jax.buffer_donor`, which lets the
    compiler choose a result of the same size.
    """
    numbering = aliased_results(function)
    returned = function.entry.last
    results = [] if returned is None else list(returned.operands)
    donors = [
        index
        for index, dictionary in enumerate(function.argument_attributes)
        if BUFFER_DONOR in dictionary and index not in numbering
    ]
    # The results that are left, by their sizes, the last first.
    free: dict[int, list[int]] = {}
    for number in sorted(set(range(len(results) if donors else 0)) - set(numbering.values()), reverse=True):
        free.setdefault(bytes_of(results[number]), []).append(number)
    for index in donors:
        if fitting := free.get(bytes_of(function.entry.arguments[index])):
            numbering[index] = fitting.pop()
    return numbering
