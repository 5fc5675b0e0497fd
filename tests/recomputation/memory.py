"""Peak memory of a printed program, by the definition of docs/reports.md, evaluated operation by operation.

At each operation, the values that have a buffer there are listed anew; nothing is swept or cached except the
buffers themselves. It shares no code with the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from math import prod

from tests.recomputation.communication import BITS
from tests.recomputation.compute import manual_sizes
from tests.recomputation.executions import Executions
from tests.recomputation.text_program import Operation, Program, Region, Value, split_at_commas

# Operations whose regions combine elements. The values in these regions are scalars, which are not counted.
SCALAR = re.compile(
    r"stablehlo\.(reduce|reduce_window|select_and_scatter|scatter|sort|map|all_reduce|reduce_scatter)"
)
CONSTANTS = ("sdy.constant", "stablehlo.constant")
SOURCES = (*CONSTANTS, "stablehlo.iota", "stablehlo.partition_id")
VIEWS = (
    "stablehlo.reshape",
    "stablehlo.optimization_barrier",
    "sdy.propagation_barrier",
    "sdy.sharding_constraint",
    "sdy.sharded_to_unreduced",
    "sdy.replicated_to_unreduced",
)
MOVES = re.compile(
    r"stablehlo\.(broadcast|broadcast_in_dim|concatenate|dynamic_slice|pad|reverse|slice|transpose)"
    r"|sdy\.all_slice"
)
ELEMENTWISE = re.compile(
    r"stablehlo\.(abs|add|and|atan2|bitcast_convert|cbrt|ceil|clamp|compare|complex|convert|cosine"
    r"|count_leading_zeros|divide|exponential|exponential_minus_one|floor|imag|is_finite|log|log_plus_one"
    r"|logistic|maximum|minimum|multiply|negate|not|or|popcnt|power|real|reduce_precision|remainder"
    r"|round_nearest_afz|round_nearest_even|rsqrt|select|shift_left|shift_right_arithmetic"
    r"|shift_right_logical|sign|sine|sqrt|subtract|tan|tanh|xor|uniform_quantize|uniform_dequantize)"
    r"|chlo\.\w+"
)
CHLO_NOT_ELEMENTWISE = (
    "chlo.top_k",
    "chlo.ragged_dot",
    "chlo.scan",
    "chlo.constant",
    "chlo._asin_acos_kernel",
)
SINKS = ("stablehlo.dynamic_update_slice", "stablehlo.reduce")
UPDATES = ("stablehlo.dynamic_update_slice", "stablehlo.scatter")
CALLS = ("call", "func.call", "sdy.manual_computation", "sdy.named_computation")
ALIGNMENT = 64
IN_RESULTS, MOST_IN_RESULTS = 16 << 20, 512
MAX_LEAVES = 16
MAX_SOURCES = 8
SMALL = 16
PRODUCTS = ("stablehlo.dot", "stablehlo.dot_general", "stablehlo.convolution")
SUMS = re.compile(r"(sdy|stablehlo)\.(all_reduce|reduce_scatter)|stablehlo\.cross-replica-sum")
INTRICATE = re.compile(
    r"stablehlo\.(cbrt|cosine|divide|exponential|exponential_minus_one|log|log_plus_one|logistic|power|rsqrt|sine"
    r"|sqrt|tan|tanh)"
)


@dataclass(frozen=True)
class RecomputedMemory:
    """The bytes that an entry function needs on one device."""

    arguments: int
    results: int
    constants: int
    peak: int


def recompute(program: Program) -> RecomputedMemory:
    """The memory of the entry function; of several, of the one with the highest peak."""
    runs = Executions(program)
    constants = [
        value
        for function in program.functions.values()
        for op in function.walk()
        if op.name in CONSTANTS and runs.of(op) != (0, 0)
        for value in op.results
    ]
    counting = _Counting(_without_boundaries(program))
    found = []
    for entry in program.entries():
        (region,) = entry.regions
        peak, _ = counting.entry(entry)
        results = _sum(region.operations[-1].operands)
        found.append(RecomputedMemory(_sum(region.arguments), results, _sum(constants), peak))
    return max(reversed(found), key=lambda each: each.peak)


def _without_boundaries(program: Program) -> Program:
    """The program with manual computations inlined, as compilers have it.

    A view is in place of what goes into or out of one.
    """
    for function in program.functions.values():
        for region in function.regions:
            _inline(region)
    return program


def _inline(region: Region) -> None:
    region.operations = list(_inlined(region.operations))
    for op in region.operations:
        for nested in op.regions:
            _inline(nested)


def _inlined(operations: list[Operation]) -> Iterator[Operation]:
    for op in operations:
        if op.name != "sdy.manual_computation":
            yield op
            continue
        (body,) = op.regions
        *inner, end = body.operations
        for argument, operand in zip(body.arguments, op.operands, strict=True):
            yield _view_of(operand, argument, op)
        yield from _inlined(inner)
        # Dead results are missing.
        for result in op.results:
            yield _view_of(end.operands[result.number], result, op.parent)


def _view_of(value: Value, seen: Value, parent: Operation | None) -> Operation:
    op = Operation("stablehlo.reshape", "", parent, [value], [seen])
    seen.owner, seen.number, seen.is_argument = op, 0, False
    return op


def live_at_peak(program: Program) -> list[tuple[int, int]]:
    """Bytes and number of copies of each value that is live at the peak, in regions and callees too."""
    devices = max((prod(mesh.sizes.values()) for mesh in program.meshes.values()), default=1)
    counting = _Counting(_without_boundaries(program))
    _, live = max((counting.entry(each) for each in reversed(program.entries())), key=lambda each: each[0])
    sizes: dict[Value, int] = {}
    for value, size in live:
        sizes.setdefault(value, size)
    return [(size, _copies(program, value, devices)) for value, size in sizes.items() if size]


def _copies(program: Program, value: Value, devices: int) -> int:
    """The number of devices that have a shard; devices along manual axes around a value have other ones."""
    manual = 1 if value.owner is None else prod(manual_sizes(program, value.owner, is_needed=False))
    return max(devices // prod(value.shards) // manual, 1)


def is_elementwise(op: Operation) -> bool:
    if op.name in CHLO_NOT_ELEMENTWISE or not ELEMENTWISE.fullmatch(op.name):
        return op.name == "sdy.reshard"
    if op.name == "stablehlo.bitcast_convert":
        return op.operands[0].sizes == op.results[0].sizes
    return True


def is_fusible(op: Operation) -> bool:
    if MOVES.fullmatch(op.name):
        return True
    return len(op.results) == 1 and is_elementwise(op) and op.name not in (*VIEWS, "sdy.reshard")


def view(op: Operation, index: int) -> Value:
    """The result of a view of an operand. Dead results are missing."""
    return op.results[index]


@dataclass(eq=False)
class Storage:
    """Memory of one or several values, from one operation of a region to another."""

    value: Value
    first: int
    last: int
    size: int


class _Region:
    """The storage of the values of a region, whose arguments in `writable` may be overwritten."""

    def __init__(self, counting: _Counting, region: Region, writable: set[int]) -> None:
        self.counting, self.region, self.writable = counting, region, writable
        self.ops = region.operations
        self.number = {id(op): number for number, op in enumerate(self.ops)}
        # (number of the operation, operand) of each use, where a use in a region is one of the operation.
        self.uses: dict[Value, list[tuple[int, int]]] = {}
        for number, op in enumerate(self.ops):
            for inner in op.walk():
                for index, value in enumerate(inner.operands):
                    self.uses.setdefault(value, []).append((number, index if inner is op else -1))
        self.storage: dict[Value, Storage] = {}
        self.own: list[Storage] = []
        self.fused: dict[int, bool] = {}
        # An operation is fused or not by what those after it are.
        for number in reversed(range(len(self.ops))):
            self.fused[number] = self._decide(number)
        for argument in region.arguments:
            self.storage[argument] = Storage(argument, -1, self.last(argument), byte_size(argument))
        for number, op in enumerate(self.ops):
            self._place(op, number)

    # Properties of values, each by its definition.

    @cache  # noqa: B019
    def is_free(self, value: Value) -> bool:
        op = value.owner
        if op is None or value.is_argument or id(op) not in self.number:
            return False
        if op.name in SOURCES:
            return True
        inputs = op.operands
        return bool(inputs) and (is_fusible(op) or op.name in VIEWS) and all(map(self.is_free, inputs))

    @cache  # noqa: B019
    def consumers(self, value: Value) -> frozenset[int]:
        """The operations that a value may be fused into."""
        found: set[int] = set()
        for number, index in self.uses.get(value, ()):
            op = self.ops[number]
            if index >= 0 and op.name in VIEWS:
                found |= self.consumers(view(op, index)) if index < len(op.results) else frozenset()
            elif self._takes(value, number, index):
                found.add(number)
        return frozenset(found)

    def _takes(self, value: Value, number: int, index: int) -> bool:
        """Whether an operation, no view, may compute a value that it uses."""
        op = self.ops[number]
        if index < 0:
            return False
        if op.name in PRODUCTS:
            return not self.is_intricate(value) or bool(op.results and self.is_free(op.results[0]))
        return is_fusible(op) or op.name in SINKS or bool(op.results and self.is_free(op.results[0]))

    @cache  # noqa: B019
    def is_intricate(self, value: Value) -> bool:
        """Whether more than simple arithmetic makes a value from what is stored."""
        number = None if value.is_argument or value.owner is None else self.number.get(id(value.owner))
        if number is None or self.is_free(value):
            return False
        op = self.ops[number]
        if len(op.results) != 1 or (op.name not in VIEWS and not is_fusible(op)):
            return False
        return INTRICATE.fullmatch(op.name) is not None or any(map(self.is_intricate, op.operands))

    def is_fused(self, number: int) -> bool:
        return self.fused[number]

    def _decide(self, number: int) -> bool:
        op = self.ops[number]
        if len(op.results) != 1 or not is_fusible(op) or self.is_free(op.results[0]):
            return False
        (result,) = op.results
        found = self.consumers(result)
        if not found:
            return False
        if (len(found) == 1 or op.name.startswith("stablehlo.broadcast")) and self.written(result) is None:
            return True
        return self._is_small_to_recompute(number) or self._sources_stay(number)

    @cache  # noqa: B019
    def sources(self, value: Value) -> dict[Value, int] | None:
        """What a value is computed from, where it is computed again for each use; None if it is stored."""
        number = None if value.is_argument or value.owner is None else self.number.get(id(value.owner))
        if number is None or self.is_free(value):
            return None
        op = self.ops[number]
        if len(op.results) != 1 or (op.name not in VIEWS and not is_fusible(op)):
            return None
        found = self._inputs(op)
        if op.name in VIEWS:
            return found
        if len(self.uses.get(value, ())) == 1:
            return found if len(found) <= MAX_SOURCES else None
        return found if self._is_small_to_recompute(number) else None

    def _inputs(self, op: Operation) -> dict[Value, int]:
        inputs = op.operands[:1] if op.name in VIEWS else op.operands
        if len(inputs) == 1:
            inner = self.sources(inputs[0])
            return {inputs[0]: byte_size(inputs[0])} if inner is None else inner
        found: dict[Value, int] = {}
        for value in inputs:
            if self.is_free(value):
                continue
            inner = self.sources(value)
            is_outside = not value.is_argument and id(value.owner) not in self.number
            if inner is not None:
                found |= inner
            elif not is_outside and byte_size(value) > byte_size(op.results[0]) // SMALL:
                found[value] = byte_size(value)
        return found

    @cache  # noqa: B019
    def _is_small_to_recompute(self, number: int) -> bool:
        op = self.ops[number]
        if len(self.uses.get(op.results[0], ())) == 1:
            return False
        return 0.8 * sum(self._inputs(op).values()) <= byte_size(op.results[0])

    def _sources_stay(self, number: int) -> bool:
        """Whether all that a value is computed from is used until its last use anyway."""
        op = self.ops[number]
        if len(self.uses.get(op.results[0], ())) == 1:
            return False
        inputs, last = self._inputs(op), self.last(op.results[0])
        return len(inputs) <= MAX_SOURCES and all(self._stays(each, number, last) for each in inputs)

    def _stays(self, value: Value, number: int, last: int) -> bool:
        if any(value is each for each in self.region.arguments) and value.number not in self.writable:
            return True
        for user, index in self.uses.get(value, ()):
            if index < 0:
                continue
            if user >= last:
                return True
            if user > number and self.fused[user] and self.last(self.ops[user].results[0]) >= last:
                return True
        return False

    @cache  # noqa: B019
    def last(self, value: Value) -> int:
        """The last operation that needs a value."""
        owner = value.owner
        found = self.number.get(id(owner), 0) if not value.is_argument else 0
        for number, index in self.uses.get(value, ()):
            op = self.ops[number]
            here = number
            if index >= 0 and op.name in VIEWS:
                here = self.last(view(op, index)) if index < len(op.results) else number
            elif index >= 0 and (self.is_fused(number) or (op.results and self.is_free(op.results[0]))):
                here = max(here, self.last(op.results[0]))
            found = max(found, here)
        return found

    @cache  # noqa: B019
    def written(self, value: Value) -> tuple[int, int] | None:
        """The first and the last operation that needs a value in memory, because it cannot compute it."""
        found: list[int] = []
        for number, index in self.uses.get(value, ()):
            op = self.ops[number]
            if index >= 0 and op.name in VIEWS:
                found += (self.written(view(op, index)) or ()) if index < len(op.results) else ()
            elif not self._takes(value, number, index):
                found.append(number)
        return (min(found), max(found)) if found else None

    # Where values are stored.

    def _place(self, op: Operation, number: int) -> None:
        if self.is_fused(number):
            self._write(op.results[0])
            return
        if op.name == "stablehlo.transpose" and self._comes_from_product(op.operands[0]):
            self._with(op.results[0], op.operands[0])
            return
        taken: list[Storage] = []
        for result in op.results:
            index = result.number
            if op.name in VIEWS:
                if self.is_free(result):
                    self._write(result)
                else:
                    self._with(result, op.operands[index])
            elif self.is_free(result):
                users = [self.ops[user].name for user, use in self.uses.get(result, ()) if use >= 0]
                if not any(name in VIEWS for name in users):
                    self._write(result)
            else:
                operand = self._overwritten(op, index, number)
                if operand is not None and self.storage[operand] not in taken:
                    taken.append(self.storage[operand])
                    self._with(result, operand)
                else:
                    self._new(result, number, self.last(result))
                    self._reuse(op, result, number)

    def _comes_from_product(self, value: Value) -> bool:
        """Whether a product makes a value, or a sum over devices of one, and nothing else uses these."""
        op = value.owner
        if op is None or value.is_argument or len(self.uses.get(value, ())) != 1:
            return False
        return op.name in PRODUCTS or bool(
            SUMS.fullmatch(op.name) and self._comes_from_product(op.operands[0])
        )

    def _write(self, value: Value) -> None:
        written = self.written(value)
        if written is not None:
            self._new(value, *written)

    def _new(self, value: Value, first: int, last: int) -> None:
        size = -(-byte_size(value) // ALIGNMENT) * ALIGNMENT
        self.storage[value] = Storage(value, first, max(first, last), size)
        self.own.append(self.storage[value])

    def _with(self, value: Value, other: Value) -> None:
        if other in self.storage:
            self.storage[value] = self.storage[other]
            self.storage[other].last = max(self.storage[other].last, self.last(value))

    def _reuse(self, op: Operation, result: Value, number: int) -> None:
        if not is_elementwise(op):
            return
        pending, seen = list(op.operands), 0
        while pending and seen < MAX_LEAVES:
            leaf = pending.pop()
            seen += 1
            inner = None if leaf.is_argument or leaf.owner is None else self.number.get(id(leaf.owner))
            if inner is not None and self.is_fused(inner):
                if is_elementwise(self.ops[inner]):
                    pending += self.ops[inner].operands
                continue
            found = self.storage.get(leaf)
            if found is None or found.last != number or found.first == number:
                continue
            if byte_size(leaf) == byte_size(result):
                found.last = number - 1
                return

    def _overwritten(self, op: Operation, index: int, number: int) -> Value | None:
        operand: Value | None = None
        if op.name in UPDATES and index == 0:
            operand = op.operands[0]
        elif op.name == "stablehlo.while":
            operand = op.operands[index]
            body = op.regions[1]
            if body.operations[-1].operands[index] is body.arguments[index]:
                return operand if operand in self.storage else None
        elif op.name in CALLS:
            source = self.counting.source(op, index)
            if source is not None:
                operand = op.operands[source.number]
                inside = self.counting.body(op)
                if inside is not None and inside.operations[-1].operands[index] is source:
                    return operand if operand in self.storage else None
        found = None if operand is None else self.storage.get(operand)
        if found is None or found.last > number:
            return None
        if found.value.is_argument and found.value.number not in self.writable:
            return None
        return operand

    # What is live.

    def live(self, held: list[Value], donors: dict[int, int]) -> tuple[int, list[tuple[Value, int]]]:
        """The peak, and the values that are live there with their bytes, in regions and callees too."""
        if not self.ops:
            return 0, []
        outside = list(self._stored_outside(donors))
        if held and any(op.name == "stablehlo.while" for op in self.ops):
            outside += self._in_results(donors, outside)
        best: tuple[int, list[tuple[Value, int]]] | None = None
        for number, op in enumerate(self.ops):
            here = [
                each
                for each in self.own
                if each.first <= number <= each.last and not any(each is other for other in outside)
            ]
            more, inner = self.counting.nested(op)
            total = _sum(held) + sum(each.size for each in here) + more
            if best is None or total > best[0]:
                stored = [(each.value, byte_size(each.value)) for each in here]
                best = total, [*((value, byte_size(value)) for value in held), *stored, *inner]
        assert best is not None
        return best

    def _in_results(self, donors: dict[int, int], outside: list[Storage]) -> Iterator[Storage]:
        """The storage that is where a result will be: the largest first, in the smallest result that fits."""
        returned = [value for number, value in enumerate(self.ops[-1].operands) if number not in donors]
        kept = [(value, self.storage[value]) for value in returned if value in self.storage]
        own = [one for value, one in kept if one.value is value and one.size >= IN_RESULTS]
        results = sorted(own, key=lambda one: one.size)[:MOST_IN_RESULTS]
        occupied: dict[int, list[Storage]] = {}
        inside = [one for one in self.own if not any(one is other for other in outside)]
        for one in sorted(inside, key=lambda one: -one.size)[:MOST_IN_RESULTS]:
            if one.size < IN_RESULTS:
                continue
            for number, result in enumerate(results):
                others = occupied.setdefault(number, [])
                is_apart = all(one.last < other.first or other.last < one.first for other in others)
                if one.size <= result.size and one.last < result.first and is_apart:
                    others.append(one)
                    yield one
                    break

    def _stored_outside(self, donors: dict[int, int]) -> Iterator[Storage]:
        """The storage of the region's results, which is that of the results of the operation around it."""
        around = self.counting.around.get(id(self.region))
        if around is not None and around.name == "stablehlo.while" and around.regions[0] is self.region:
            return
        for index, value in enumerate(self.ops[-1].operands):
            found = self.storage.get(value)
            if found is None:
                continue
            if index in donors:
                old = self.storage[self.region.arguments[donors[index]]]
                is_replaced = found.first == old.last and is_fusible(self.ops[found.first])
                if found is not old and found.first <= old.last and not is_replaced:
                    continue
            if around is not None and around.name == "stablehlo.while":
                old = self.storage[self.region.arguments[index]]
                if found is not old and found.first <= old.last:
                    continue
            yield found


@dataclass(eq=False)
class _Counting:
    program: Program
    around: dict[int, Operation] = field(default_factory=dict)
    # The callees whose results are being followed.
    _followed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for function in self.program.functions.values():
            for op in function.walk():
                self.around.update({id(region): op for region in op.regions})
        self.of_function = cache(self._of_function)
        self.source = cache(self._source)

    def entry(self, function: Operation) -> tuple[int, list[tuple[Value, int]]]:
        """The peak of an entry function, and the values that are live there."""
        (region,) = function.regions
        donated = donations(function)
        results = [
            value
            for number, value in enumerate(region.operations[-1].operands)
            if number not in donated.values()
        ]
        donors = {number: argument for argument, number in donated.items()}
        return _Region(self, region, set(donated)).live([*region.arguments, *results], donors)

    def nested(self, op: Operation) -> tuple[int, list[tuple[Value, int]]]:
        """The most bytes that an operation needs in its regions or callee, and the values there."""
        if op.callee is not None:
            return self.of_function(op.callee)
        if op.name == "stablehlo.composite":
            match = re.search(r"decomposition = @([\w$.-]+)", op.text)
            return (0, []) if match is None else self.of_function(match[1])
        if SCALAR.fullmatch(op.name):
            return 0, []
        return max((self._of_region(each) for each in op.regions), key=lambda each: each[0], default=(0, []))

    def _of_function(self, name: str) -> tuple[int, list[tuple[Value, int]]]:
        regions = self.program.functions[name].regions
        return max((self._of_region(each) for each in regions), key=lambda each: each[0], default=(0, []))

    def _of_region(self, region: Region) -> tuple[int, list[tuple[Value, int]]]:
        return _Region(self, region, set(range(len(region.arguments)))).live([], {})

    def body(self, op: Operation) -> Region | None:
        """The region that an operation runs once: its own, or that of its callee."""
        if op.callee is None:
            return op.regions[0]
        regions = self.program.functions[op.callee].regions
        return regions[0] if regions else None

    def _source(self, op: Operation, index: int) -> Value | None:
        """The argument of the body that a result is written into; None in a function that calls itself."""
        body = self.body(op)
        value: Value | None = None if body is None else body.operations[-1].operands[index]
        while value is not None and not value.is_argument and value.owner is not None:
            inner = value.owner
            if (inner.callee or None) in self._followed:
                return None
            if inner.name in VIEWS or inner.name == "stablehlo.while":
                value = inner.operands[value.number]
            elif inner.name in UPDATES and value.number == 0:
                value = inner.operands[0]
            elif inner.name in CALLS:
                self._followed.add(op.callee or "")
                source = self.source(inner, value.number)
                self._followed.discard(op.callee or "")
                value = None if source is None else inner.operands[source.number]
            else:
                return None
        if value is None or body is None or not any(value is each for each in body.arguments):
            return None
        return value


def donations(function: Operation) -> dict[int, int]:
    """The arguments of an entry function that are donated, and the numbers of the results that take them."""
    (region,) = function.regions
    texts = dict.fromkeys(range(len(region.arguments)), "")
    for part in split_at_commas(function.text.partition("(")[2]):
        match = re.match(r"(%[\w$.-]+): ", part)
        for number, argument in enumerate(region.arguments):
            if match is not None and argument.name == match[1]:
                texts[number] = part
    found = {
        number: int(match[1])
        for number, text in texts.items()
        if (match := re.search(r"tf\.aliasing_output = (\d+)", text)) is not None
    }
    results = region.operations[-1].operands
    free = [number for number in range(len(results)) if number not in found.values()]
    for number, text in texts.items():
        if "jax.buffer_donor" in text and number not in found:
            size = byte_size(region.arguments[number])
            fitting = [result for result in free if byte_size(results[result]) == size]
            if fitting:
                found[number] = fitting[0]
                free.remove(fitting[0])
    return found


def _sum(values: list[Value]) -> int:
    return sum(byte_size(value) for value in values)


def byte_size(value: Value) -> int:
    """The bytes of a value's local shape; 0 for a token and for a type without a static shape."""
    if value.type.startswith("tuple<"):
        elements = split_at_commas(value.type.removeprefix("tuple<").removesuffix(">"))
        return _sum([Value(value.name, element, []) for element in elements])
    sizes = value.local_sizes
    if sizes is None:
        return 0
    element = value.type.removeprefix("tensor<").removesuffix(">").split("x", len(sizes))[-1]
    return -(-bits(element) * prod(sizes) // 8)


def bits(element: str) -> int:
    """The bits of an element: 8 for `i1`, those of the storage type for a quantized type."""
    element = element.partition(", #")[0]
    if element in BITS:
        return BITS[element]
    if element.startswith("complex<"):
        return 2 * bits(element.removeprefix("complex<").removesuffix(">"))
    digits = re.search(r"\d+", element)
    assert digits is not None, element
    return int(digits[0])
