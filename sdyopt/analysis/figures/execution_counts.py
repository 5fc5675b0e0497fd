"""The number of times that each operation runs: over loops, calls and branches, from the entry functions.

A trip count is known only if a counter with a constant start and step is compared with a constant bound. A
constant may be passed as an argument of calls or computations, or as a loop operand that does not change.
Unknown counts are None, unless they are assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property

from sdyopt.analysis.figures.figures import NEVER, ONCE, RunTimes
from sdyopt.analysis.figures.source_locations import SourceLocation, source_location
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.ops import ConstantOp, ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.stablehlo.asynchronous import AsyncStartOp
from sdyopt.mlir.dialects.stablehlo.compare_select import CompareOp
from sdyopt.mlir.dialects.stablehlo.control_flow import CaseOp, CompositeOp, IfOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, SubtractOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import is_public, lookup_symbol
from sdyopt.mlir.ir.traits import CONSTANT_LIKE
from sdyopt.mlir.ir.types import IntegerType, Type, element_of
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

MAIN = "main"

# Operations whose regions run as parts of the program. The regions of other operations in functions (reduce,
# sort, …) compute on scalars, which are not counted as memory.
CONTROL_FLOW: tuple[type[Op], ...] = (
    WhileOp,
    IfOp,
    CaseOp,
    ManualComputationOp,
    NamedComputationOp,
    AsyncStartOp,
)

# The direction of a comparison with its sides exchanged.
_MIRRORED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "NE": "NE"}


@dataclass(frozen=True, slots=True)
class AssumedTrips:
    """The trip counts of loops whose own is unknown: by the line of the loop, and of all others."""

    by_line: Mapping[int, int] = field(default_factory=dict)
    others: int | None = None

    def of(self, loop: WhileOp) -> int | None:
        """The assumed trip count of a loop; None if there is none."""
        return self.by_line.get(source_location(loop.location).line, self.others)


NONE_ASSUMED = AssumedTrips()


def assumed_trips(texts: Sequence[str]) -> AssumedTrips:
    """The trip counts of texts `LINE=N` and `N`; of several for one line, the last."""
    by_line: dict[int, int] = {}
    others: int | None = None
    for text in texts:
        line, _, count = text.rpartition("=")
        if line:
            by_line[int(line)] = int(count)
        else:
            others = int(count)
    return AssumedTrips(by_line, others)


class ExecutionCounts:
    """The number of times that the operations of a module run, per region."""

    def __init__(self, module: Op, assumed: AssumedTrips = NONE_ASSUMED) -> None:
        self._module = module
        self._assumed = assumed
        self._of_iteration: ExecutionCounts | None = None
        self._functions = functions_in(module)
        self._call_sites: dict[FuncOp, list[CallOp | CompositeOp]] = {}
        # The integer that a block argument always is; None if there is none or it is unknown.
        self._of_arguments: dict[BlockArgument, int | None] = {}
        for op in module.walk():
            if isinstance(op, CallOp | CompositeOp) and (callee := callee_of(op)) is not None:
                self._call_sites.setdefault(callee, []).append(op)
        self._entries = set(entry_functions(self._functions))
        self._of_region: dict[Region, RunTimes | None] = {}
        self._of_function: dict[FuncOp, RunTimes | None] = {}
        self._being_counted: set[FuncOp] = set()
        self._loop_around: dict[FuncOp, WhileOp | None] = {}
        self._nesting: dict[Op, tuple[FuncOp | None, int]] = {}
        self._trip_counts: dict[WhileOp, int | None] = {}

    def times(self, op: Op) -> RunTimes | None:
        """The number of times that an operation runs; None if that is unknown."""
        region = op.parent_region
        return ONCE if region is None else self._region(region)

    def per_iteration(self, op: Op) -> RunTimes | None:
        """The number of runs in one iteration of the loops of unknown trip count around the operation."""
        if self._of_iteration is None:
            assumed = AssumedTrips(self._assumed.by_line, 1 if self._assumed.others is None else None)
            self._of_iteration = ExecutionCounts(self._module, assumed)
        return self._of_iteration.times(op)

    def loop(self, op: Op) -> WhileOp | None:
        """The innermost loop that an operation runs in, also one around the calls of its function."""
        for ancestor in op.ancestors():
            if isinstance(ancestor, WhileOp):
                return ancestor
            if isinstance(ancestor, FuncOp):
                if ancestor not in self._loop_around:
                    self._loop_around[ancestor] = None  # for recursion
                    loops = map(self.loop, self._call_sites.get(ancestor, ()))
                    self._loop_around[ancestor] = next(filter(None, loops), None)
                return self._loop_around[ancestor]
        return None

    def nesting(self, op: Op) -> tuple[FuncOp | None, int]:
        """The function that an operation is in, and the number of operations around it there."""
        around: list[Op] = []
        parent, known = op.parent_op, None
        while parent is not None and (known := self._nesting.get(parent)) is None:
            if isinstance(parent, FuncOp):
                known = parent, 0
                break
            around.append(parent)
            parent = parent.parent_op
        function, depth = known or (None, 0)
        for inner in reversed(around):
            depth += 1
            self._nesting[inner] = function, depth
        return function, depth

    def call_sites(self, function: FuncOp) -> Sequence[CallOp | CompositeOp]:
        """The calls of a function, and the composites that it defines."""
        return self._call_sites.get(function, ())

    def is_entry(self, function: FuncOp) -> bool:
        """Whether a program starts in a function: `@main`, or else a public one."""
        return function in self._entries

    @cached_property
    def unreached(self) -> frozenset[FuncOp]:
        """The functions that no entry calls, nor what it calls; none in a program without an entry."""
        reached = set(self._entries or self._functions)
        pending: list[Op] = list(reached)
        callees: dict[Op, list[FuncOp]] = {}
        for callee, calls in self._call_sites.items():
            for call in calls:
                if (caller := call.parent_of_type(FuncOp)) is not None:
                    callees.setdefault(caller, []).append(callee)
        while pending:
            for callee in callees.get(pending.pop(), ()):
                if callee not in reached:
                    reached.add(callee)
                    pending.append(callee)
        return frozenset(self._functions) - reached

    def trip_count(self, loop: WhileOp) -> int | None:
        """The number of times that the body of a loop runs in one run of the loop; None if unknown."""
        if loop not in self._trip_counts:
            count = self._count_trips(loop)
            self._trip_counts[loop] = self._assumed.of(loop) if count is None else count
        return self._trip_counts[loop]

    # --- Regions ------------------------------------------------------------------------------

    def _region(self, region: Region) -> RunTimes | None:
        if region not in self._of_region:
            self._of_region[region] = self._count_region(region)
        return self._of_region[region]

    def _count_region(self, region: Region) -> RunTimes | None:
        op = region.parent
        if op is None or isinstance(op, ModuleOp):
            return ONCE
        if isinstance(op, FuncOp):
            return self._function(op)
        around = self.times(op)
        if around is None:
            return None
        if isinstance(op, WhileOp):
            count = self.trip_count(op)
            if count is None:
                return NEVER if around == NEVER else None
            runs = count if region is op.body else count + 1
            return around * RunTimes(runs, runs)
        if isinstance(op, IfOp | CaseOp) and len(op.regions) > 1:
            return RunTimes(0, around.high)
        if op.trip_count is not None:
            count = op.trip_count(op.signature)
            return None if count is None else around * RunTimes(count, count)
        return around

    # --- Functions ----------------------------------------------------------------------------

    def _function(self, function: FuncOp) -> RunTimes | None:
        if function in self._of_function:
            return self._of_function[function]
        if function in self._being_counted:
            return None  # recursion
        self._being_counted.add(function)
        sites = [self.times(call) for call in self._call_sites.get(function, ())]
        self._being_counted.discard(function)
        total: RunTimes | None = ONCE if function in self._entries else NEVER
        for times in sites:
            total = None if total is None or times is None else total + times
        self._of_function[function] = total
        return total

    # --- Loops --------------------------------------------------------------------------------

    def _count_trips(self, loop: WhileOp) -> int | None:
        """The trip count of a loop such as `while (counter < bound) counter += step`; None if unknown."""
        condition = _returned(loop.cond, 0)
        compare = condition.op if isinstance(condition, OpResult) else None
        if not isinstance(compare, CompareOp):
            return None
        direction = compare.comparison_direction.value
        sides = [(compare.lhs, compare.rhs, direction), (compare.rhs, compare.lhs, _MIRRORED.get(direction))]
        for counter, bound, towards in sides:
            if (
                towards is None
                or not isinstance(counter, BlockArgument)
                or counter.block is not loop.cond.entry
            ):
                continue
            index = counter.index
            start = self._constant(loop.operand_at(index))
            step = self._step(loop, index)
            limit = self._constant(bound)
            if start is not None and step is not None and limit is not None:
                return counter_trip_count(start, step, limit, towards, integer_range(counter.type))
        return None

    def _step(self, loop: WhileOp, index: int) -> int | None:
        """The constant that the body adds to the loop operand at this index; None if it is unknown."""
        next_value = _returned(loop.body, index)
        update = next_value.op if isinstance(next_value, OpResult) else None
        counter = loop.body.blocks[0].arguments[index]
        if isinstance(update, AddOp):
            if update.lhs is counter:
                return self._constant(update.rhs)
            return self._constant(update.lhs) if update.rhs is counter else None
        if isinstance(update, SubtractOp) and update.lhs is counter:
            step = self._constant(update.rhs)
            return None if step is None else -step
        return None

    def _constant(self, value: Value) -> int | None:
        """The integer that a scalar value always is; None if there is none or it is unknown."""
        if isinstance(value, OpResult):
            return constant_integer(value.op)
        if not isinstance(value, BlockArgument):
            return None
        if value not in self._of_arguments:
            # None while it is computed, in case the argument is passed on to itself.
            self._of_arguments[value] = None
            passed = self._passed_unchanged(value)
            if passed is not None:
                self._of_arguments[value] = self._constant(passed)
        return self._of_arguments[value]

    def _passed_unchanged(self, argument: BlockArgument) -> Value | None:
        """A value outside the loop, computation or function that always equals its argument, or None."""
        op = argument.block.parent_op
        if isinstance(op, WhileOp):
            return op.operand_at(argument.index) if is_passed_on(op, argument.index) else None
        if isinstance(op, ManualComputationOp | NamedComputationOp):
            return op.operand_at(argument.index)
        if isinstance(op, FuncOp) and op not in self._entries:
            operands = [call.operand_at(argument.index) for call in self._call_sites.get(op, ())]
            constants = {self._constant(operand) for operand in operands}
            return operands[0] if len(constants) == 1 and None not in constants else None
        return None


def counter_trip_count(
    start: int, step: int, limit: int, direction: str, values: tuple[int, int] | None = None
) -> int | None:
    """The trip count of a loop that counts from `start` by `step` while `counter direction limit`.

    `values` are the lowest and the highest value that the counter can have. None for an endless loop, a
    counter that leaves this range, and other directions than LT, LE, GT, GE and NE.
    """
    count = _count_without_overflow(start, step, limit, direction)
    if count is None or values is None:
        return count
    return count if values[0] <= start + count * step <= values[1] else None


def _count_without_overflow(start: int, step: int, limit: int, direction: str) -> int | None:
    if direction in ("GT", "GE"):
        start, step, limit = -start, -step, -limit
        direction = "LT" if direction == "GT" else "LE"
    distance = limit - start + (direction == "LE")
    if direction == "NE":
        return distance // step if step and distance % step == 0 and distance // step >= 0 else None
    if direction not in ("LT", "LE"):
        return None
    if distance <= 0:
        return 0
    return -(-distance // step) if step > 0 else None


def callee_of(op: CallOp | CompositeOp) -> FuncOp | None:
    """The function that an operation runs; None if there is none."""
    callee = lookup_symbol(op, op.callee if isinstance(op, CallOp) else op.decomposition)
    return callee if isinstance(callee, FuncOp) else None


def functions_in(module: Op) -> list[FuncOp]:
    """The functions of a program and of its nested modules. Their bodies are not visited."""
    functions: list[FuncOp] = []
    for op in (op for region in module.regions for block in region.blocks for op in block.ops):
        if isinstance(op, FuncOp):
            functions.append(op)
        elif op.regions:
            functions += functions_in(op)
    return functions


def entry_functions(functions: Sequence[FuncOp]) -> list[FuncOp]:
    """`@main`, or else all public functions."""
    mains = [function for function in functions if function.sym_name == MAIN]
    return mains or [function for function in functions if is_public(function)]


def _returned(region: Region, index: int) -> Value | None:
    terminator = region.blocks[0].last
    if terminator is None or index >= len(terminator.operand_uses):
        return None
    return terminator.operand_at(index)


def is_passed_on(loop: WhileOp, index: int) -> bool:
    """Whether the body of a loop returns a loop-carried value unchanged."""
    return _returned(loop.body, index) is loop.body.blocks[0].arguments[index]


def nested_regions(op: Op) -> tuple[Region, ...]:
    """The regions of an operation that run as parts of the program."""
    return op.regions if isinstance(op, CONTROL_FLOW) or op.data_flow is not None else ()


def constant_of(op: Op) -> Attribute | None:
    """The value of a constant operation; None for any other operation."""
    return op.signature.attributes.get("value") if isinstance(op, ConstantOp) else constant_value(op)


@cache
def is_constant(kind: type[Op]) -> bool:
    """Whether operations of a class are constants."""
    return issubclass(kind, ConstantOp) or CONSTANT_LIKE in kind.traits


def constant_integer(op: Op) -> int | None:
    """The value of an integer constant with one element; None for any other operation."""
    value = constant_of(op)
    if not isinstance(value, DenseElements) or value.type.num_elements != 1:
        return None
    element = value.type.element
    if not isinstance(element, IntegerType):
        return None
    (integer,) = integers_of(value)
    return integer + (1 << element.width) if integer < 0 and element.is_unsigned else integer


def integer_range(type: Type) -> tuple[int, int] | None:
    """The lowest and the highest value of an integer type, or of a tensor's elements if they are integers.

    None for any other type.
    """
    element = element_of(type)
    if not isinstance(element, IntegerType):
        return None
    if element.is_unsigned:
        return 0, (1 << element.width) - 1
    return -(1 << (element.width - 1)), (1 << (element.width - 1)) - 1


# Source locations of operations: where an operation has no line, the line of the call of its function.
#
# JAX gives the operations of library functions such as `jnp.take` a name, but no line.


class CallLocations:
    """The source locations of the calls of a module's functions, which complete those in the functions."""

    def __init__(self, counts: ExecutionCounts) -> None:
        self._counts = counts
        self._of_function: dict[FuncOp, SourceLocation | None] = {}

    def completed(self, location: SourceLocation, op: Op | None) -> SourceLocation:
        """`location`; if it has no line, that of the first call of the function that is or contains `op`."""
        if location.line or op is None:
            return location
        function = next(
            (ancestor for ancestor in (op, *op.ancestors()) if isinstance(ancestor, FuncOp)), None
        )
        call = None if function is None else self._call_location(function)
        if call is None:
            return location
        names = "/".join(filter(None, (call.name_stack, location.name_stack)))
        return call._replace(name_stack=names)

    def _call_location(self, function: FuncOp) -> SourceLocation | None:
        """The first completed location of a call of the function that has a line; None if none has."""
        if function not in self._of_function:
            self._of_function[function] = None  # for recursion
            sites = [
                self.completed(source_location(op.location), op) for op in self._counts.call_sites(function)
            ]
            self._of_function[function] = next((site for site in sites if site.line), None)
        return self._of_function[function]
