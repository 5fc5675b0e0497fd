"""The line of a call stack that a person would change.

A call stack of JAX often ends in a helper, such as a function that only adds a sharding constraint, or in a
library. There, one line stands for many places of the program, and what a person changes is a call of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from sdyopt.analysis.figures.source_locations import (
    GRADIENTS,
    Frame,
    Phase,
    SourceLocation,
    source_location,
)
from sdyopt.base.diagnostics.location import (
    CallSite,
    LazyLocation,
    NameLoc,
    resolve_file_location,
    without_offset,
)
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import OpResult
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# A function, by its file and name.
_Function = tuple[str, str]
SCRIPT = "<module>"
_LIBRARIES = ("/site-packages/", "/dist-packages/", "/lib/python3")


class UserLines:
    """The functions of the user's program, from the call stacks of all operations.

    `locations` is called when they are first needed.
    """

    def __init__(self, locations: Callable[[], Iterable[SourceLocation]]) -> None:
        self._locations = locations

    @staticmethod
    def of_module(module: Op) -> UserLines:
        """The functions of a module's program, as it is when they are first needed."""
        return UserLines(lambda: _locations(op.lazy_location for op in module.walk()))

    @staticmethod
    def before_passes(module: Op) -> UserLines:
        """The functions of a module's program, as it is now."""
        result = dict.fromkeys(op.lazy_location for op in module.walk())
        return UserLines(lambda: _locations(result))

    def chosen(self, location: SourceLocation) -> SourceLocation:
        """The location at the innermost frame that is neither in a library nor in a helper.

        If there is none, it is at the innermost frame outside of libraries.
        """
        if len(location.frames) < 2:
            return location
        own = [frame for frame in location.frames if not is_in_library(frame)]
        if not own:
            return location
        is_constraint = _is_constraint(location)
        for frame, caller in zip(own, [*own[1:], None], strict=True):
            function = _function(frame)
            # An operation may have been removed from the program whose lines are known.
            is_called = caller is not None and caller.function != SCRIPT
            only_constrains = is_constraint and is_called and function not in self._computing
            if function not in self._helpers and not only_constrains:
                return location.at(frame)
        return location.at(own[0])

    @property
    def _computing(self) -> set[_Function]:
        """The functions that do not only constrain shardings."""
        return self._functions[0]

    @property
    def _helpers(self) -> set[_Function]:
        """The functions that more lines call than they have themselves.

        So the calls tell more apart than the lines inside do.
        """
        return self._functions[1]

    @cached_property
    def _functions(self) -> tuple[set[_Function], set[_Function]]:
        computing: set[_Function] = set()
        lines: dict[_Function, set[int]] = {}
        callers: dict[_Function, set[tuple[str, int]]] = {}
        for location in self._locations():
            if not _is_constraint(location):
                computing.update(map(_function, location.frames))
            outer: Iterable[Frame | None] = (*location.frames[1:], None)
            for frame, caller in zip(location.frames, outer, strict=False):
                function = _function(frame)
                lines.setdefault(function, set()).add(frame.line)
                # What runs a whole step is no part of it.
                if caller is not None and caller.function != SCRIPT and _function(caller) != function:
                    callers.setdefault(function, set()).add((caller.file, caller.line))
        helpers = {
            function
            for function, sites in callers.items()
            if function[1] and len(sites) > len(lines[function])
        }
        return computing, helpers


def _locations(lazy_locations: Iterable[LazyLocation]) -> list[SourceLocation]:
    """The locations that operations state, each once."""
    locations = dict.fromkeys(without_offset(location) for location in dict.fromkeys(lazy_locations))
    return [source_location(location) for location in locations if location is not None]


def _is_constraint(location: SourceLocation) -> bool:
    return location.path.endswith(("/sharding_constraint", "/reshard"))


def _function(frame: Frame) -> _Function:
    return frame.file, frame.function


def is_in_library(frame: Frame) -> bool:
    """Whether a frame is in an installed package, or in one of Python's."""
    return any(folder in frame.file for folder in _LIBRARIES)


def operation_text(op: Op) -> str:
    """What an operation is called for those who write JAX: `dot_general`, `call of f`, `slice [..., 2:4]`."""
    if isinstance(op, CallOp):
        return f"call of {op.callee}"
    if isinstance(op, SliceOp):
        # One line of Python, such as a split, makes several.
        return f"slice {_indices(op)}"
    if is_shard_map(op):
        return "shard_map"
    name = op.signature.name.partition(".")[2] or op.signature.name
    if name != "sharding_constraint":
        return name
    return constraint_text(op).removeprefix(OUT_SHARDING if is_derived(op) else "")


# Operations for which JAX has an argument `out_sharding`.
_WITH_OUT_SHARDING = (
    *("dot_general", "gather", "scatter", "scatter-add", "reshape", "broadcast_in_dim", "iota"),
    *("conv_general_dilated", "random_bits"),
)
# The ends of name stacks of constraints that programs write; those of other programs have none.
_STATEMENTS = ("", "reshard", "sharding_constraint")
# A sharding constraint on the result of an operation, which JAX creates if axes are explicit.
OUT_SHARDING = "out_sharding of "


def constraint_text(op: Op) -> str:
    """What a sharding constraint is called for those who write JAX.

    `with_sharding_constraint`, `reshard`, or `out_sharding of dot_general`: with explicit axes, JAX
    constrains the result of each operation.
    """
    name = source_location(op.location).name_stack.rpartition("/")[2]
    if name == "reshard":
        return name
    return f"{OUT_SHARDING}{name}" if is_out_sharding(op) else "with_sharding_constraint"


def is_out_sharding(op: Op) -> bool:
    """Whether JAX constrains the result of an operation, because axes are explicit.

    Such a constraint has the location of the operation.
    """
    location, value = source_location(op.location), op.operand_at(0)
    name = location.name_stack.rpartition("/")[2]
    if name in _STATEMENTS:
        return False
    return isinstance(value, OpResult) and value.op.location is op.location


def is_statement(op: Op) -> bool:
    """Whether a program writes a constraint, or is none of JAX.

    With explicit axes, JAX constrains the results of operations, and those of `jit`.
    """
    return source_location(op.location).name_stack.rpartition("/")[2] in _STATEMENTS


def is_auto(op: Op) -> bool:
    """Whether a constraint is one on automatic axes, whose dimensions may be open."""
    return constraint_text(op) == "with_sharding_constraint"


def is_derived(op: Op) -> bool:
    """Whether JAX derives a constraint from the shardings of operands: no `out_sharding` is written.

    What has no line of its own is in a function of JAX, such as `jnp.where`.
    """
    location = source_location(op.location)
    if is_statement(op) or not (location.line or is_out_sharding(op)):
        return False
    is_possible = location.name_stack.rpartition("/")[2] in _WITH_OUT_SHARDING and is_out_sharding(op)
    is_written = is_possible and _has_line(op) and not _is_expanded(op)
    return not is_written or location.phase in GRADIENTS


def _has_line(op: Op) -> bool:
    """Whether an operation has a line of its own, not only that of a call, or of another operation."""
    named = next((part for part in op.location.walk() if isinstance(part, NameLoc)), None)
    if named is None or (line := resolve_file_location(named)) is None:
        return False
    # What JAX lowers to several operations has its line twice.
    site = named.child
    return not isinstance(site, CallSite) or resolve_file_location(site.caller) != line


def _is_expanded(op: Op) -> bool:
    """Whether a value only has more dimensions of size 1, as that of `jnp.expand_dims`."""
    value = op.operand_at(0)
    source = value.op if isinstance(value, OpResult) else None
    if isinstance(source, ReshapeOp):
        return source_location(op.location).name_stack.endswith("broadcast_in_dim")
    if not isinstance(source, BroadcastInDimOp):
        return False
    types = source.operand_at(0).type, value.type
    sizes = [[size for size in type.shape if size != 1] for type in types if isinstance(type, RankedTensor)]
    return len(sizes) == 2 and sizes[0] == sizes[1]


# A call such as an einsum has at most so many operations after the one that JAX constrains.
_MOST_STEPS = 16


def order_in_call(op: ShardingConstraintOp) -> tuple[int, ...] | None:
    """The dimensions of a constrained value in the order of the result of its call, which a program writes.

    An einsum is a product that is transposed. None if the result has other dimensions.
    """
    assert isinstance(op.output.type, RankedTensor)
    order = tuple(range(op.output.type.rank))
    last: Op | None = op
    for _ in range(_MOST_STEPS):
        assert last is not None
        last = next((user for user in last.results[0].users if _is_same_call(user, op)), None)
        if last is None:
            return order
        if isinstance(last, TransposeOp):
            order = tuple([order[dim] for dim in last.permutation])
        elif not isinstance(last, ShardingConstraintOp) and not is_elementwise(last.signature):
            return None
    return None


def is_in_call(op: Op) -> bool:
    """Whether a constraint is the last step of a call with an `out_sharding`, such as `.at[…].get`."""
    value = op.operand_at(0)
    return isinstance(value, OpResult) and _is_same_call(value.op, op)


def _is_same_call(one: Op, other: Op) -> bool:
    """Whether one call in the user's program has made two operations."""
    first, second = source_location(one.location), source_location(other.location)
    return (
        bool(first.line and first.name_stack and second.name_stack)
        and (first.frames, first.phase) == (second.frames, second.phase)
        and resolve_file_location(one.location) == resolve_file_location(other.location)
    )


def location_within(op: Op) -> SourceLocation:
    """The location of an operation. One in a shard_map is in the part of a training step that that is in."""
    location = source_location(op.location)
    if not location.name_stack or location.phase is not Phase.UNKNOWN:
        return location
    for outer in op.ancestors():
        if isinstance(outer, FuncOp):
            break
        around = source_location(outer.location)
        if around.phase is not Phase.UNKNOWN:
            return location._replace(path=f"{around.path}/{location.path}")
    return location


def is_shard_map(op: Op) -> bool:
    """Whether an operation is a `shard_map` of JAX, which names it."""
    return op.signature.name == "sdy.manual_computation" and bool(source_location(op.location).name_stack)


def _indices(op: SliceOp) -> str:
    sizes = op.signature[SliceOp.operand].shape
    indices = [
        ":" if (start, limit, stride) == (0, size, 1) else f"{start}:{limit}{f':{stride}' * (stride != 1)}"
        for start, limit, stride, size in zip(
            op.start_indices, op.limit_indices, op.strides, sizes, strict=True
        )
    ]
    full = next((number for number, index in enumerate(indices) if index != ":"), 0)
    return f"[{', '.join(['...'] * (full > 0) + indices[full:])}]"
