"""The program that edits change: its parts, insertion points, what is inserted, and copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypedDict, TypeVar

from sdyopt.base import diagnostics
from sdyopt.base.diagnostics.location import without_offset
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.ir import block as ir_block
from sdyopt.mlir.ir import rewrite as ir
from sdyopt.mlir.ir.edit_log import EditLog, recording
from sdyopt.mlir.ir.operation import UNKNOWN, Op
from sdyopt.mlir.ir.types import Type as IrType
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, OpResult
from sdyopt.mlir.ir.value import Value as IrValue
from sdyopt.tools.api.attributes import Type
from sdyopt.tools.api.errors import location_of
from sdyopt.tools.api.operations import Block, Function, Operation, ProgramView, Value, operation_view
from sdyopt.tools.api.program import IrProgram, OfProgram
from sdyopt.tools.api.shardings import Sharding


class InsertionPoint(TypedDict, total=False):
    """The place at which operations are inserted: exactly one of these."""

    before: Operation
    after: Operation
    at_end_of: Block
    at_start_of: Block


P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound="EditedProgram")
V = TypeVar("V", Value, Operation, Function)


def edit(method: Callable[Concatenate[E, P], R]) -> Callable[Concatenate[E, P], R]:
    """Makes a method an edit, after which values have other names."""

    def edited(self: E, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._program.being_edited():
            try:
                return method(self, *args, **kwargs)
            finally:
                self._program.forget_names()

    update_wrapper(edited, method)
    return edited


def check_index(operation: Operation, part: str, index: int, count: int) -> None:
    """Raises ValueError if an operation has no operand, result or region of an index."""
    if not 0 <= index < count:
        plural = "" if count == 1 else "s"
        raise ValueError(f"{operation!r} has {count} {part}{plural}: there is no {part} {index}")


class Matches:
    """The matches of patterns, for the error if there is no end of them."""

    def __init__(self) -> None:
        self.last = "folding and simplification do not end"
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, pattern: str, operation: str, location: diagnostics.Location) -> None:
        self._counts[pattern, operation] = self._counts.get((pattern, operation), 0) + 1
        self.last = f"pattern {pattern!r} still matches {operation} at {location_of(location).short}"

    @property
    def others(self) -> str:
        """How often which patterns matched, the most frequent first, if there are several."""
        if len(self._counts) < 2:
            return ""
        counts = sorted(self._counts.items(), key=lambda item: -item[1])[:3]
        return "; " + ", ".join(
            [f"{pattern!r} matched {op} {count} times" for (pattern, op), count in counts]
        )


class EditedProgram(OfProgram, ProgramView):
    """A program that is edited, as the base of `Rewriter`."""

    def __init__(
        self,
        program: IrProgram,
        log: EditLog,
        operations: Mapping[Op, Op] | None = None,
        values: Mapping[IrValue, IrValue] | None = None,
    ) -> None:
        self._program = program
        self._log = log
        with recording(log):
            self._ir = ir.Rewriter()
        self._changed = False
        # The copies of what another module has.
        self._operations = operations or {}
        self._values = values or {}
        self._blocks = {
            block: copied
            for op, copy in self._operations.items()
            for region, copied_region in zip(op.regions, copy.regions, strict=True)
            for block, copied in zip(region.blocks, copied_region.blocks, strict=True)
        }

    @property
    def changed(self) -> bool:
        """Whether there was an edit."""
        return self._changed or self._ir.changed

    @contextmanager
    def _using(self, rewriter: ir.Rewriter) -> Iterator[None]:
        """Edits through the rewriter of a driver, which must learn of all edits."""
        outer, self._ir = self._ir, rewriter
        try:
            yield
        finally:
            self._changed |= rewriter.changed
            self._ir = outer

    # --- Parts of the program -----------------------------------------------------------------

    def copy_of(self, part: V) -> V:
        """The value or operation of the edited program that was copied from this one of the module.

        Methods take both.
        """
        if isinstance(part, Value):
            return Value(self._program, self._value(part))
        if isinstance(part, Function):
            return Function(self._program, self._function(part))
        return operation_view(self._program, self._operation(part))

    def _operation(self, operation: Operation) -> Op:
        op = self._operations.get(operation.ir, operation.ir)
        if not self._program.op.is_ancestor(op):
            raise ValueError(f"{operation!r} was erased, or is not in this program")
        return op

    def _function(self, function: Function) -> FuncOp:
        op = self._operation(function)
        if not isinstance(op, FuncOp):
            raise ValueError(f"{function!r} is not a func.func")
        return op

    def _value(self, value: Value) -> IrValue:
        copied = self._values.get(value.ir, value.ir)
        assert isinstance(copied, OpResult | BlockArgument)
        owner = copied.op if isinstance(copied, OpResult) else copied.block.parent_op
        if owner is None or not self._program.op.is_ancestor(owner):
            raise ValueError("the value was erased, or is not in this program")
        return copied

    def _argument(self, argument: Value) -> tuple[FuncOp, BlockArgument]:
        """An argument of a function, and the function."""
        inner = self._value(argument)
        if isinstance(inner, BlockArgument) and isinstance(func := inner.block.parent_op, FuncOp):
            return func, inner
        raise ValueError(f"{argument} is not an argument of a function")

    def _all(self, values: Sequence[Value]) -> list[IrValue]:
        return [self._value(value) for value in values]

    def _block(self, block: Block) -> ir_block.Block:
        copied = self._blocks.get(block.ir, block.ir)
        owner = copied.parent_op
        if owner is None or not self._program.op.is_ancestor(owner):
            raise ValueError("the block was erased, or is not in this program")
        return copied

    def _point(self, at: InsertionPoint) -> tuple[ir.InsertionPoint, LazyLocation]:
        """An insertion point in the IR, and the location of what is inserted there."""
        match at:
            case {"before": Operation() as op, **rest} if not rest:
                inner = self._inside(op)
                return {"before": inner}, inner.lazy_location
            case {"after": Operation() as op, **rest} if not rest:
                inner = self._inside(op)
                return {"after": inner}, inner.lazy_location
            case {"at_end_of": Block() as block, **rest} if not rest:
                target = self._block(block)
                return {"at_end_of": target}, location_in(target)
            case {"at_start_of": Block() as block, **rest} if not rest:
                target = self._block(block)
                return {"at_start_of": target}, location_in(target)
        raise TypeError("an insertion point is one of before, after, at_end_of and at_start_of")

    def _inside(self, operation: Operation) -> Op:
        op = self._operation(operation)
        if op.parent is None:
            raise ValueError("nothing is before or after the module itself; insert at the end of its block")
        return op

    def _op_class(self, name: str) -> type[Op]:
        op_class = self._program.dialects.op_class(name)
        if op_class is None:
            dialect = self._program.dialects.find(name.partition(".")[0])
            known = [] if dialect is None else [op.name for op in dialect.ops.values()]
            help = nearest_or_all(name, known) if known else "no such dialect is loaded"
            raise ValueError(f"there is no operation {name!r}; {help}")
        return op_class

    @property
    def _module_block(self) -> ir_block.Block:
        if not isinstance(self._program.op, ModuleOp):
            raise ValueError("a pass on functions does not change the module; remove its anchor")
        return self._program.op.block

    def _mesh_op(self, name: str) -> MeshOp | None:
        ops = (op for op in self._top_level if isinstance(op, MeshOp) and op.sym_name == name)
        return next(ops, None)

    def _sharding(self, sharding: Sharding, type: IrType) -> TensorSharding:
        """A sharding in the IR, of the rank of a type. Raises ValueError if its mesh is not in the module."""
        mesh = sharding.mesh
        if mesh.name:
            known = self.meshes.get(mesh.name)
            if known is None:
                raise ValueError(f"the module has no mesh @{mesh.name}; add it by set_mesh")
            if known != mesh:
                raise ValueError(f"the module has {known!r}, and the sharding {mesh!r}")
        missing = rank_of(type) - len(sharding.dimensions)
        if missing < 0:
            raise ValueError(f"{sharding} has more dimensions than {Type(type)}")
        if not missing:
            return sharding.ir
        return Sharding(
            mesh,
            [*sharding.dimensions, *[None] * missing],
            sharding.replicated_axes,
            sharding.unreduced_axes,
            sharding.reduction,
        ).ir


# A type, or its text.
AnyType = Type | str


def directly_after(value: IrValue) -> ir.InsertionPoint:
    """The insertion point directly after the definition of a value."""
    if isinstance(value, OpResult):
        return {"after": value.op}
    assert isinstance(value, BlockArgument)
    return {"at_start_of": value.block}


def ir_type(type: AnyType) -> IrType:
    return (Type.parse(type) if isinstance(type, str) else type).ir


def location_in(block: ir_block.Block) -> LazyLocation:
    return UNKNOWN if block.parent_op is None else block.parent_op.lazy_location


def parent_of(point: ir.InsertionPoint) -> Op | None:
    """The operation in which an insertion point is."""
    for op in (point.get("before"), point.get("after")):
        if op is not None:
            return op.parent_op
    block = point.get("at_end_of") or point.get("at_start_of")
    return None if block is None else block.parent_op


def locate(op: Op, location: LazyLocation) -> None:
    """Gives a location to all that has none in the text that was inserted."""
    for inner in op.walk():
        if without_offset(inner.lazy_location) is None:
            inner.location = location
        for region in inner.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    if without_offset(argument.lazy_location) is None:
                        argument.location = location
