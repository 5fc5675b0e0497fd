"""The lines of the user's program that an operation comes from.

JAX writes `loc("jit(step)/transpose(jvp())/attention/dot_general"(callsite("attend"("a.py":12:4) at …)))`:
the outermost name is the name stack, and the file locations are the frames of the call stack, the innermost
first.

A call stack of JAX often ends in a helper, such as a function that only adds a sharding constraint, or in a
library. There, one line stands for many places of the program, and what a person changes is a call of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import PurePath

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.location import (
    CallSite,
    FileLoc,
    FileRange,
    FusedLoc,
    LazyLocation,
    Location,
    NameLoc,
    resolve_file_location,
    without_offset,
)
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import OpResult
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise


class Phase(StrEnum):
    """The part of a training step that an operation belongs to, by JAX's name stack.

    What is computed from gradients, outside of functions that are differentiated, is the update. The part is
    unknown without a name stack, and for what is in a function whose calls have none.
    """

    FORWARD = "forward"
    BACKWARD = "backward"
    REMATERIALIZED = "rematerialized"
    UPDATE = "update"
    UNKNOWN = "unknown"


# The parts that compute gradients.
GRADIENTS = (Phase.BACKWARD, Phase.REMATERIALIZED)


class Frame(NamedTuple):
    """A line of the call stack, and the function that it is in; "" if that is unknown."""

    function: str
    file: str
    line: int
    column: int


class SourceLocation(NamedTuple):
    """A point in a file, and JAX's name stack; "" and 0 for what the location does not have.

    `frames` are the call stack of the point, which is the first of them. `path` are the name stacks of the
    operation and of the calls around it, the outermost first. Name stacks do not tell the update from the
    forward pass, so that `is_update` is found out otherwise.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    name_stack: str = ""
    frames: tuple[Frame, ...] = ()
    path: str = ""
    is_update: bool = False

    @property
    def path_text(self) -> str:
        """`models/attention.py:12`, or the name stack if there is no line."""
        return f"{self.file}:{self.line}" if self.line else self.name_stack

    @property
    def file_text(self) -> str:
        """`attention.py:12`, without folders, or the name stack if there is no line."""
        return f"{PurePath(self.file).name}:{self.line}" if self.line else self.name_stack

    @property
    def phase(self) -> Phase:
        """The part of a training step."""
        if self.is_update:
            return Phase.UPDATE
        path = self.path or self.name_stack
        if "rematted_computation" in path:
            return Phase.REMATERIALIZED
        if "transpose(" in path:
            return Phase.BACKWARD
        return Phase.FORWARD if _IS_TRACED.search(path) else Phase.UNKNOWN

    @property
    def is_differentiated(self) -> bool:
        """Whether the operation is of a function that is differentiated, in its forward or backward pass."""
        path = self.path or self.name_stack
        return "jvp(" in path or "transpose(" in path or "rematted_computation" in path

    @property
    def scope(self) -> str:
        """`decoder/attention`: the named scopes and modules; "" outside of any."""
        return _scope(self.path or self.name_stack)

    def at(self, frame: Frame) -> SourceLocation:
        """The same operation, located at a line of its call stack."""
        return self._replace(file=frame.file, line=frame.line, column=frame.column)


NO_LOCATION = SourceLocation()


# A report needs most locations more than once.
@lru_cache(maxsize=1 << 16)
def source_location(location: Location) -> SourceLocation:
    """The innermost line and the name stack of a location."""
    name_stack = next((part.name for part in location.walk() if isinstance(part, NameLoc)), "")
    point: FileLoc | FileRange | None = resolve_file_location(location)
    frames, names = _frames(location)
    path = "/".join(reversed(names))
    if point is None:
        return SourceLocation(name_stack=name_stack, path=path)
    return SourceLocation(point.file, point.line, point.column, name_stack, frames, path)


# JAX keeps at most 10 frames of a call stack by default, and inlining adds those of calls.
_MAX_FRAMES = 64


def _frames(location: Location) -> tuple[tuple[Frame, ...], list[str]]:
    """The frames of a location, the innermost first and each once, and the names that are not functions."""
    frames: dict[Frame, None] = {}
    names: list[str] = []
    pending = [location]
    visited: set[Location] = set()
    while pending and len(frames) < _MAX_FRAMES:
        part = pending.pop()
        if part in visited:
            continue
        visited.add(part)
        if isinstance(part, NameLoc) and isinstance(child := part.child, FileLoc | FileRange):
            frames[Frame(part.name, child.file, child.line, child.column)] = None
        elif isinstance(part, FileLoc | FileRange):
            frames[Frame("", part.file, part.line, part.column)] = None
        else:
            if isinstance(part, NameLoc):
                names.append(part.name)
            # The other locations of a fused one are not callers of the first.
            children = part.children[:1] if isinstance(part, FusedLoc) else part.children
            pending.extend(reversed(children))
    return tuple(frames), names


# The name stack of a traced program starts with what traced it, or has a transformation.
_IS_TRACED = constant_pattern(r"\b(?:jit|pjit|pmap|jvp|vmap)\(")
# What JAX puts around the names of scopes, and between them.
_TRANSFORMATION = constant_pattern(r"(?:jvp|transpose|vmap|remat|checkpoint|custom_jvp|custom_vjp)\(")
_STRUCTURE = constant_pattern(
    r"(?:while|body|cond|scan|eval_jaxpr|closed_call|core_call|remat2?|checkpoint|rematted_computation|jit|pjit|"
    r"shard_map|custom_[jv][a-z]*_call|branch_\d+_fun|jit\(.*|[^/]*->.*|[^/]*:|)"
)


@lru_cache(maxsize=1 << 16)
def _scope(path: str) -> str:
    """The scopes in a name stack, without the operation at its end."""
    names: list[str] = []
    for part in path.split("/")[:-1]:
        while (match := _TRANSFORMATION.match(part)) is not None:
            part = part[match.end() :].removesuffix(")")
        if not _STRUCTURE.fullmatch(part):
            names.append(part)
    return "/".join(names)


@lru_cache(maxsize=1 << 16)
def code_of(location: Location) -> str:
    """`attention in model.py`: the innermost function and file, without the line, which moves often."""
    point = resolve_file_location(location)
    if point is None:
        return ""
    names = [part for part in location.walk() if isinstance(part, NameLoc)]
    # The outermost name is the name stack.
    function = next((part.name for part in names[1:] if part.child is point), "")
    return " in ".join(filter(None, [function, PurePath(point.file).name]))


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
