"""Edits of programs: the rewriter of `Module.edit`, of patterns and of passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypedDict, TypeVar, Unpack

from sdyopt.base.diagnostics.ids import PARSE_ERROR
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.mlir.asm.parser.module_parser import ModuleParser
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy import function_edits
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_edits import remove_sharding, set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, shardable_value
from sdyopt.mlir.ir import block as ir_block
from sdyopt.mlir.ir import patterns as ir_patterns
from sdyopt.mlir.ir import rewrite as ir
from sdyopt.mlir.ir.attribute import StringAttr, TypeAttr
from sdyopt.mlir.ir.edit_log import EditLog, recording
from sdyopt.mlir.ir.operation import UNKNOWN, Op
from sdyopt.mlir.ir.patterns import GreedyOptions, RegionSimplification, apply_greedily
from sdyopt.mlir.ir.symbols import SYM_NAME, SYM_VISIBILITY
from sdyopt.mlir.ir.types import FunctionType
from sdyopt.mlir.ir.types import Type as IrType
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, OpResult
from sdyopt.mlir.ir.value import Value as IrValue
from sdyopt.tools.api.attributes import Attribute, AttributeValue, Type, ir_location
from sdyopt.tools.api.creation import (
    AnyType,
    directly_after,
    inferred_types,
    ir_type,
    locate,
    location_in,
    parent_of,
    region_of,
)
from sdyopt.tools.api.errors import Location, as_parse_error, require_text
from sdyopt.tools.api.operations import Block, Function, Operation, ProgramView, Value, operation_view
from sdyopt.tools.api.program import Program
from sdyopt.tools.api.shardings import Mesh, Sharding


class InsertionPoint(TypedDict, total=False):
    """The place at which operations are inserted: exactly one of these."""

    before: Operation
    after: Operation
    at_end_of: Block
    at_start_of: Block


@dataclass(frozen=True, eq=False)
class Pattern:
    """A rewrite of the operations of one name, such as `stablehlo.add`.

    `rewrite(operation, rewriter)` returns whether it matched, and edits only then. Patterns with a higher
    `benefit` are tried first.
    """

    operation: str
    rewrite: Callable[[Operation, Rewriter], bool]
    benefit: int = 1


P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V", Value, Operation, Function)


def _edit(method: Callable[Concatenate[Rewriter, P], R]) -> Callable[Concatenate[Rewriter, P], R]:
    """Makes a method an edit, after which values have other names."""

    def edit(self: Rewriter, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._program.being_edited():
            try:
                return method(self, *args, **kwargs)
            finally:
                self._program.forget_names()

    update_wrapper(edit, method)
    return edit


class Rewriter(ProgramView):
    """Edits a program, and shows it as a `Module` does. Values and operations keep their locations.

    An insertion point is one of the keyword arguments `before`, `after`, `at_end_of` and `at_start_of`. A new
    operation has the location of the one at its insertion point, or of the one with the block. Methods raise
    ValueError for an edit that cannot be made; the program is verified at the end.
    """

    def __init__(
        self,
        program: Program,
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

    @property
    def changed(self) -> bool:
        """Whether there was an edit."""
        return self._changed or self._ir.changed

    # --- Shardings ----------------------------------------------------------------------------

    @_edit
    def set_sharding(self, value: Value, sharding: Sharding | None) -> None:
        """Sets the sharding of a value, or removes it.

        Dimensions for which the sharding has nothing are replicated and closed, as in JAX.
        """
        inner = self._value(value)
        if sharding is None:
            if not remove_sharding(inner, self._ir):
                raise ValueError(f"{value} must have a sharding, because of its operation")
            return
        if shardable_value(inner) is None:
            raise ValueError(f"{value} cannot have a sharding")
        set_sharding(inner, self._sharding(sharding, inner.type), self._ir)

    @_edit
    def set_result_sharding(self, function: Function, index: int, sharding: Sharding | None) -> None:
        """Sets the sharding of a result of a function, or removes it."""
        func = self._function(function)
        type = func.function_type.results[index]
        new = None if sharding is None else self._sharding(sharding, type)
        self._ir.set_result_attribute(func, index, SHARDING, new)

    @_edit
    def add_constraint(self, value: Value, sharding: Sharding) -> Value:
        """Inserts a `sdy.sharding_constraint` after a value, which all its uses then take."""
        inner = self._value(value)
        point = directly_after(inner)
        op = self._ir.create(
            ShardingConstraintOp,
            [inner],
            [inner.type],
            {"sharding": self._sharding(sharding, inner.type)},
            location=inner.lazy_location,
            **point,
        )
        self._ir.replace_uses_except(inner, op.results[0], op)
        return Value(self._program, op.results[0])

    # --- Operations ---------------------------------------------------------------------------

    @_edit
    def create(
        self,
        name: str,
        operands: Sequence[Value] = (),
        result_types: Sequence[AnyType] | None = None,
        attributes: Mapping[str, AttributeValue] | None = None,
        *,
        regions: Sequence[Sequence[AnyType]] = (),
        location: Location | None = None,
        **at: Unpack[InsertionPoint],
    ) -> Operation:
        """Creates an operation, such as `stablehlo.add`.

        Without `result_types`, they are inferred. `regions` has the types of the arguments of the block of
        each region; insert its operations `at_end_of` it.
        """
        op_class = self._op_class(name)
        values = [self._value(operand) for operand in operands]
        given = {key: Attribute.of(value).ir for key, value in (attributes or {}).items()}
        point, default = self._point(at)
        types = None if result_types is None else [ir_type(result_type) for result_type in result_types]
        where = default if location is None else ir_location(location)
        blocks = [region_of([ir_type(argument) for argument in arguments], where) for arguments in regions]
        if types is None:
            types = inferred_types(op_class, values, given)
        op = self._ir.create(op_class, values, types, given, location=where, regions=blocks, **point)
        return operation_view(self._program, op)

    @_edit
    def insert(
        self,
        text: str,
        values: Mapping[str, Value] | None = None,
        *,
        location: Location | None = None,
        **at: Unpack[InsertionPoint],
    ) -> tuple[Operation, ...]:
        """Inserts the operations of a text in MLIR's syntax, and returns them.

        `values` are the values that the text uses, by their names in it, without `%`. Raises ParseError.
        """
        require_text("what is inserted", text)
        by_name = {f"%{name}": self._value(value) for name, value in (values or {}).items()}
        point, default = self._point(at)
        source = Source("<inserted>", text)
        parser = ModuleParser(source, self._program.dialects, self._program.options)
        parent = parent_of(point)
        with as_parse_error(PARSE_ERROR, source):
            block = parser.statements(
                {name: value.type for name, value in by_name.items()},
                parent.default_dialect if parent else "",
            )
        for argument, value in zip(block.arguments, by_name.values(), strict=True):
            for use in reversed(list(argument.uses)):
                self._ir.set_operand(use, value)
        where = default if location is None else ir_location(location)
        ops = list(block.ops)
        # Those inserted after an operation, or at the start of a block, are inserted in reverse order.
        for op in ops if "before" in point or "at_end_of" in point else reversed(ops):
            locate(op, where)
            block.detach(op)
            self._ir.insert(op, **point)
        return tuple([operation_view(self._program, op) for op in ops])

    @_edit
    def clone(self, operation: Operation, **at: Unpack[InsertionPoint]) -> Operation:
        """Inserts a copy of an operation, with its regions and its location."""
        copy = self._ir.clone(self._operation(operation))
        self._ir.insert(copy, **self._point(at)[0])
        return operation_view(self._program, copy)

    @_edit
    def move(self, operation: Operation, **at: Unpack[InsertionPoint]) -> None:
        """Moves an operation to an insertion point."""
        self._ir.move(self._operation(operation), **self._point(at)[0])

    @_edit
    def erase(self, operation: Operation) -> None:
        """Erases an operation, whose results must be unused, with all that is nested in it."""
        op = self._operation(operation)
        for result in op.results:
            if result.has_uses:
                user = operation_view(self._program, next(result.users))
                value = Value(self._program, result)
                raise ValueError(f"{value} is still used by {user!r}: replace it first")
        if op.parent is None:
            raise ValueError("the module itself cannot be erased")
        self._ir.erase(op)

    @_edit
    def replace(self, operation: Operation, values: Sequence[Value] | Operation) -> None:
        """Replaces the results of an operation by other values, or by those of another one, and erases it."""
        op = self._operation(operation)
        new = self._operation(values).results if isinstance(values, Operation) else self._all(values)
        if len(new) != len(op.results):
            raise ValueError(f"{operation!r} has {len(op.results)} results, not {len(new)}")
        self._ir.replace(op, new)

    @_edit
    def replace_all_uses(self, old: Value, new: Value) -> None:
        """Replaces all uses of a value by another one."""
        self._ir.replace_all_uses(self._value(old), self._value(new))

    @_edit
    def set_operand(self, operation: Operation, index: int, value: Value) -> None:
        """Sets an operand."""
        self._ir.set_operand(self._operation(operation).operand_uses[index], self._value(value))

    @_edit
    def set_attribute(self, operation: Operation, name: str, value: AttributeValue) -> None:
        """Sets an attribute, to one or to a value as of `Attribute.of`."""
        self._ir.set_attribute(self._operation(operation), name, Attribute.of(value).ir)

    @_edit
    def remove_attribute(self, operation: Operation, name: str) -> None:
        """Removes an attribute, if there is one of this name."""
        self._ir.remove_attribute(self._operation(operation), name)

    @_edit
    def set_location(self, operation: Operation, location: Location) -> None:
        """Sets the location of an operation."""
        self._ir.set_location(self._operation(operation), ir_location(location))
        self._changed = True

    # --- Functions and meshes -----------------------------------------------------------------

    @_edit
    def add_function(
        self,
        name: str,
        argument_types: Sequence[AnyType] = (),
        result_types: Sequence[AnyType] = (),
        *,
        is_private: bool = False,
        location: Location | None = None,
    ) -> Function:
        """Adds a function at the end of the module. Its body is an empty block."""
        inputs, results = ([ir_type(type) for type in types] for types in (argument_types, result_types))
        where = UNKNOWN if location is None else ir_location(location)
        attributes = {
            SYM_NAME: StringAttr(name),
            "function_type": TypeAttr(FunctionType(tuple(inputs), tuple(results))),
            **({SYM_VISIBILITY: StringAttr("private")} if is_private else {}),
        }
        end = self._module_block
        body = region_of(inputs, where)
        op = self._ir.create(FuncOp, (), (), attributes, location=where, regions=[body], at_end_of=end)
        assert isinstance(op, FuncOp)
        return Function(self._program, op)

    @_edit
    def add_argument(self, function: Function, type: AnyType, sharding: Sharding | None = None) -> Value:
        """Appends an argument to a function with a body. A call of the function is invalid then."""
        func, new_type = self._function(function), ir_type(type)
        if func.is_declaration:
            raise ValueError(f"{function!r} is a declaration, which has no body")
        argument = function_edits.add_argument(func, new_type, self._ir, func.lazy_location)
        if sharding is not None:
            self._ir.set_argument_attribute(
                func, argument.index, SHARDING, self._sharding(sharding, new_type)
            )
        return Value(self._program, argument)

    @_edit
    def erase_argument(self, argument: Value) -> None:
        """Erases an unused argument of a function, and the operands of its calls."""
        func, inner = self._argument(argument)
        if inner.has_uses:
            raise ValueError(f"{argument} is still used")
        function_edits.erase_argument(func, inner.index, self._ir)

    @_edit
    def add_result(self, function: Function, value: Value, sharding: Sharding | None = None) -> None:
        """Appends a value to the results of a function, and to those of its calls."""
        func, inner = self._function(function), self._value(value)
        if len(function_edits.returns_of(func)) != 1:
            raise ValueError(f"{function!r} does not return at one place")
        function_edits.add_result(func, inner, self._ir)
        if sharding is not None:
            index = len(func.function_type.results) - 1
            self._ir.set_result_attribute(func, index, SHARDING, self._sharding(sharding, inner.type))

    @_edit
    def erase_result(self, function: Function, index: int) -> None:
        """Erases a result of a function, which its calls must not use."""
        func = self._function(function)
        if any(call.results[index].has_uses for call in function_edits.calls_of(func)):
            raise ValueError(f"result {index} of {function!r} is still used by a call")
        function_edits.erase_result(func, index, self._ir)

    @_edit
    def set_argument_attribute(self, argument: Value, name: str, value: AttributeValue | None) -> None:
        """Sets an attribute of an argument of a function, or removes it."""
        func, inner = self._argument(argument)
        new = None if value is None else Attribute.of(value).ir
        self._ir.set_argument_attribute(func, inner.index, name, new)

    @_edit
    def set_result_attribute(
        self, function: Function, index: int, name: str, value: AttributeValue | None
    ) -> None:
        """Sets an attribute of a result of a function, or removes it."""
        new = None if value is None else Attribute.of(value).ir
        self._ir.set_result_attribute(self._function(function), index, name, new)

    @_edit
    def set_mesh(self, mesh: Mesh) -> None:
        """Adds a mesh to the module, or replaces the one of its name."""
        if not mesh.name:
            raise ValueError("a mesh of a module has a name")
        old = self._mesh_op(mesh.name)
        if old is not None:
            self._ir.set_attribute(old, "mesh", mesh.ir)
            return
        start = self._module_block
        others = [op for op in self._top_level if isinstance(op, MeshOp)]
        attributes = {SYM_NAME: StringAttr(mesh.name), "mesh": mesh.ir}
        if others:
            self._ir.create(MeshOp, (), (), attributes, after=others[-1])
        else:
            self._ir.create(MeshOp, (), (), attributes, at_start_of=start)

    @_edit
    def erase_mesh(self, name: str) -> None:
        """Erases a mesh, to which no sharding may refer."""
        op = self._mesh_op(name)
        if op is None:
            raise ValueError(f"the module has no mesh @{name}; {nearest_or_all(name, self.meshes)}")
        self._ir.erase(op)

    # --- Patterns -----------------------------------------------------------------------------

    @_edit
    def apply(self, *patterns: Pattern, max_iterations: int = 10, folds: bool = False) -> None:
        """Applies patterns until none matches, and erases operations that are dead.

        With `folds`, as `canonicalize` does, operations are also folded, regions simplified and equal
        constants merged. Raises ValueError if some pattern still matches after `max_iterations` over the
        program, in each of which patterns match at most ten times per operation.
        """
        by_name: dict[str, list[Pattern]] = {}
        for pattern in sorted(patterns, key=lambda pattern: -pattern.benefit):
            self._op_class(pattern.operation)
            by_name.setdefault(pattern.operation, []).append(pattern)

        def patterns_of(op_class: type[Op]) -> list[ir_patterns.Pattern]:
            return [
                ir_patterns.Pattern(self._rewrite_of(pattern), pattern.rewrite.__name__)
                for pattern in by_name.get(op_class.name, ())
            ]

        simplification = RegionSimplification.AGGRESSIVE if folds else RegionSimplification.DISABLED
        options = GreedyOptions(
            top_down=True,
            max_iterations=max_iterations,
            max_rewrites=10 * sum(1 for _ in self._program.op.walk()),
            region_simplification=simplification,
            folds=folds,
            merges_constants=folds,
        )
        with recording(self._log):
            changed, converged = apply_greedily(self._program.op, patterns_of, options)
        self._changed |= changed
        if not converged:
            raise ValueError(f"a pattern still matches after {max_iterations} iterations")

    def _rewrite_of(self, pattern: Pattern) -> Callable[[Op, ir.Rewriter], bool]:
        def rewrite(op: Op, rewriter: ir.Rewriter) -> bool:
            with self._using(rewriter):
                return pattern.rewrite(operation_view(self._program, op), self)

        return rewrite

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
        parent = block.ir.parent
        owner = None if parent is None else parent.parent
        if parent is None or owner is None:
            raise ValueError("the block was erased")
        copy = self._operations.get(owner)
        if copy is None:
            self._operation(operation_view(self._program, owner))
            return block.ir
        return copy.regions[parent.index].blocks[parent.blocks.index(block.ir)]

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
