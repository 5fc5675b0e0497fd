"""Edits of programs: the rewriter of `Module.edit`, of patterns and of passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

from sdyopt.base.diagnostics.ids import PARSE_ERROR
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.mlir.asm.parser.module_parser import ModuleParser
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy import sharding_edits
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding_edits import remove_sharding, set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import shardable_value
from sdyopt.mlir.ir import block as ir_block
from sdyopt.mlir.ir import patterns as ir_patterns
from sdyopt.mlir.ir import rewrite as ir
from sdyopt.mlir.ir.attribute import StringAttr, TypeAttr
from sdyopt.mlir.ir.edit_log import recording
from sdyopt.mlir.ir.op_builder import attribute_for, inferred_types, region_of
from sdyopt.mlir.ir.operation import UNKNOWN, Op
from sdyopt.mlir.ir.patterns import GreedyOptions, RegionSimplification, apply_greedily
from sdyopt.mlir.ir.symbols import SYM_NAME, SYM_VISIBILITY
from sdyopt.mlir.ir.types import FunctionType
from sdyopt.mlir.ir.value import BlockArgument
from sdyopt.tools.api.attributes import Attribute, AttributeValue, ir_location, ir_value
from sdyopt.tools.api.edited_program import (
    AnyType,
    EditedProgram,
    InsertionPoint,
    Matches,
    check_index,
    directly_after,
    edit,
    ir_type,
    locate,
    location_in,
    parent_of,
)
from sdyopt.tools.api.errors import Location, as_parse_error, require_text
from sdyopt.tools.api.operations import Block, Function, Operation, Value, operation_view
from sdyopt.tools.api.shardings import Mesh, Sharding


def _is_within(op: Op, block: ir_block.Block) -> bool:
    """Whether an operation is in a block, at any depth."""
    return any(outer.parent is block for outer in (op, *op.ancestors()))


@dataclass(frozen=True, eq=False)
class Pattern:
    """A rewrite of the operations of one name, such as `stablehlo.add`, or of all operations if it is None.

    `rewrite(operation, rewriter)` returns whether it matched, and edits only then. Patterns with a higher
    `benefit` are tried first. With `trait`, only operations with the trait of this name, such as
    `elementwise`, are rewritten; `Operation.traits` has those of an operation.
    """

    operation: str | None
    rewrite: Callable[[Operation, Rewriter], bool]
    benefit: int = 1
    trait: str | None = None


def _name_of(pattern: Pattern) -> str:
    return getattr(pattern.rewrite, "__qualname__", repr(pattern.rewrite))


class Rewriter(EditedProgram):
    """Edits a program, and shows it as a `Module` does. Values and operations keep their locations.

    An insertion point is one of the keyword arguments `before`, `after`, `at_end_of` and `at_start_of`. A new
    operation has the location of the one at its insertion point, or of the one with the block. Methods raise
    ValueError for an edit that cannot be made; the program is verified at the end.
    """

    # --- Shardings ----------------------------------------------------------------------------

    @edit
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

    @edit
    def set_result_sharding(self, function: Function, index: int, sharding: Sharding | None) -> None:
        """Sets the sharding of a result of a function, or removes it."""
        func = self._function(function)
        check_index(function, "result", index, len(func.function_type.results))
        type = func.function_type.results[index]
        new = None if sharding is None else self._sharding(sharding, type)
        self._ir.set_result_attribute(func, index, SHARDING, new)

    @edit
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

    @edit
    def create(
        self,
        name: str,
        operands: Sequence[Value] = (),
        result_types: Sequence[AnyType] | None = None,
        attributes: Mapping[str, AttributeValue] | None = None,
        *,
        regions: Sequence[Sequence[AnyType]] = (),
        successors: Sequence[Block] = (),
        location: Location | None = None,
        **at: Unpack[InsertionPoint],
    ) -> Operation:
        """Creates an operation, such as `stablehlo.add`.

        Without `result_types`, they are inferred. An attribute is made of a value as the operation takes it:
        an `i32` of an integer, a dense array of a list, an enum of its case, a `#stablehlo.dot` of a
        dictionary. `regions` has the types of the arguments of the block of each region; insert its
        operations `at_end_of` it, and further blocks by `add_block`. `successors` are blocks of the same
        region, to which a terminator branches.
        """
        op_class = self._op_class(name)
        values = [self._value(operand) for operand in operands]
        given = {
            key: attribute_for(op_class, key, ir_value(value)) for key, value in (attributes or {}).items()
        }
        point, default = self._point(at)
        types = None if result_types is None else [ir_type(result_type) for result_type in result_types]
        where = default if location is None else ir_location(location)
        blocks = [region_of([ir_type(argument) for argument in arguments], where) for arguments in regions]
        if types is None:
            types = inferred_types(op_class, values, given)
        targets = [self._block(successor) for successor in successors]
        op = self._ir.create(
            op_class, values, types, given, location=where, regions=blocks, successors=targets, **point
        )
        return operation_view(self._program, op)

    @edit
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

    @edit
    def clone(self, operation: Operation, **at: Unpack[InsertionPoint]) -> Operation:
        """Inserts a copy of an operation, with its regions and its location."""
        copy = self._ir.clone(self._operation(operation))
        self._ir.insert(copy, **self._point(at)[0])
        return operation_view(self._program, copy)

    @edit
    def move(self, operation: Operation, **at: Unpack[InsertionPoint]) -> None:
        """Moves an operation to an insertion point."""
        self._ir.move(self._operation(operation), **self._point(at)[0])

    @edit
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

    @edit
    def replace(self, operation: Operation, values: Sequence[Value] | Operation) -> None:
        """Replaces the results of an operation by other values, or by those of another one, and erases it."""
        op = self._operation(operation)
        new = self._operation(values).results if isinstance(values, Operation) else self._all(values)
        if len(new) != len(op.results):
            raise ValueError(f"{operation!r} has {len(op.results)} results, not {len(new)}")
        self._ir.replace(op, new)

    @edit
    def replace_all_uses(self, old: Value, new: Value) -> None:
        """Replaces all uses of a value by another one."""
        self._ir.replace_all_uses(self._value(old), self._value(new))

    @edit
    def set_operand(self, operation: Operation, index: int, value: Value) -> None:
        """Sets an operand. Raises ValueError if the operation has no operand of this index."""
        uses = self._operation(operation).operand_uses
        check_index(operation, "operand", index, len(uses))
        self._ir.set_operand(uses[index], self._value(value))

    @edit
    def set_attribute(self, operation: Operation, name: str, value: AttributeValue) -> None:
        """Sets an attribute, to one or to a value that the operation takes, as `create` describes.

        Raises ValueError if it takes no such value.
        """
        op = self._operation(operation)
        self._ir.set_attribute(op, name, attribute_for(type(op), name, ir_value(value)))

    @edit
    def remove_attribute(self, operation: Operation, name: str) -> None:
        """Removes an attribute, if there is one of this name."""
        self._ir.remove_attribute(self._operation(operation), name)

    @edit
    def set_location(self, operation: Operation, location: Location) -> None:
        """Sets the location of an operation."""
        self._ir.set_location(self._operation(operation), ir_location(location))
        self._changed = True

    # --- Blocks -------------------------------------------------------------------------------

    @edit
    def add_block(
        self,
        operation: Operation,
        argument_types: Sequence[AnyType] = (),
        *,
        region: int = 0,
        after: Block | None = None,
        location: Location | None = None,
    ) -> Block:
        """Adds an empty block to a region of an operation: at its end, or after another block of it.

        Raises ValueError if the operation has no region of this index.
        """
        op = self._operation(operation)
        check_index(operation, "region", region, len(op.regions))
        where = op.lazy_location if location is None else ir_location(location)
        block = ir_block.Block()
        for argument_type in argument_types:
            block.add_argument(ir_type(argument_type), where)
        blocks = op.regions[region].blocks
        if after is None:
            op.regions[region].add_block(block)
        else:
            previous = self._block(after)
            if previous not in blocks:
                raise ValueError(f"the block is not in region {region} of {operation!r}")
            self._ir.insert_blocks([block], previous)
        self._changed = True
        return Block(self._program, block)

    @edit
    def erase_block(self, block: Block) -> None:
        """Erases a block and its operations. Nothing outside may use their results or branch to the block."""
        inner = self._block(block)
        if inner.uses:
            raise ValueError("an operation branches to the block: replace it first")
        for op in inner.ops:
            for result in op.results:
                outside = [user for user in result.users if not _is_within(user, inner)]
                if outside:
                    user = operation_view(self._program, outside[0])
                    raise ValueError(
                        f"{Value(self._program, result)} is still used by {user!r}: replace it first"
                    )
        self._ir.erase_block(inner)

    @edit
    def add_block_argument(self, block: Block, type: AnyType, location: Location | None = None) -> Value:
        """Appends an argument to a block. Those of a function are added by `add_argument`."""
        inner = self._block(block)
        self._check_is_no_entry(inner)
        where = location_in(inner) if location is None else ir_location(location)
        return Value(self._program, self._ir.add_argument(inner, ir_type(type), where))

    @edit
    def erase_block_argument(self, argument: Value) -> None:
        """Erases an unused argument of a block. Those of a function are erased by `erase_argument`."""
        inner = self._value(argument)
        if not isinstance(inner, BlockArgument):
            raise ValueError(f"{argument} is not an argument of a block")
        self._check_is_no_entry(inner.block)
        if inner.has_uses:
            raise ValueError(f"{argument} is still used")
        self._ir.erase_argument(inner)

    @edit
    def inline_block(
        self, block: Block, arguments: Sequence[Value] = (), **at: Unpack[InsertionPoint]
    ) -> tuple[Value, ...]:
        """Moves the operations of a block to an insertion point, and returns the operands of its terminator.

        `arguments` replace those of the block. The terminator and the block are erased.
        """
        inner = self._block(block)
        values = self._all(arguments)
        if len(values) != len(inner.arguments):
            raise ValueError(f"the block has {len(inner.arguments)} arguments, not {len(values)}")
        point = self._point(at)[0]
        for argument, value in zip(inner.arguments, values, strict=True):
            self._ir.replace_all_uses(argument, value)
        terminator = inner.terminator
        returned = () if terminator is None else tuple(terminator.operands)
        if terminator is not None:
            self._ir.erase(terminator)
        ops = list(inner.ops)
        for op in ops if "before" in point or "at_end_of" in point else reversed(ops):
            self._ir.move(op, **point)
        self._ir.erase_block(inner)
        return tuple([Value(self._program, value) for value in returned])

    def _check_is_no_entry(self, block: ir_block.Block) -> None:
        owner = block.parent_op
        if isinstance(owner, FuncOp) and owner.entry is block:
            raise ValueError("the block is that of a function: use add_argument and erase_argument")

    # --- Functions and meshes -----------------------------------------------------------------

    @edit
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

    @edit
    def add_argument(self, function: Function, type: AnyType, sharding: Sharding | None = None) -> Value:
        """Appends an argument to a function with a body. A call of the function is invalid then."""
        func, new_type = self._function(function), ir_type(type)
        if func.is_declaration:
            raise ValueError(f"{function!r} is a declaration, which has no body")
        argument = sharding_edits.add_argument(func, new_type, self._ir, func.lazy_location)
        if sharding is not None:
            self._ir.set_argument_attribute(
                func, argument.index, SHARDING, self._sharding(sharding, new_type)
            )
        return Value(self._program, argument)

    @edit
    def erase_argument(self, argument: Value) -> None:
        """Erases an unused argument of a function, and the operands of its calls."""
        func, inner = self._argument(argument)
        if inner.has_uses:
            raise ValueError(f"{argument} is still used")
        sharding_edits.erase_arguments(func, {inner.index}, self._ir)

    @edit
    def add_result(self, function: Function, value: Value, sharding: Sharding | None = None) -> None:
        """Appends a value to the results of a function, and to those of its calls."""
        func, inner = self._function(function), self._value(value)
        if len(sharding_edits.returns_of(func)) != 1:
            raise ValueError(f"{function!r} does not return at one place")
        sharding_edits.add_result(func, inner, self._ir)
        if sharding is not None:
            index = len(func.function_type.results) - 1
            self._ir.set_result_attribute(func, index, SHARDING, self._sharding(sharding, inner.type))

    @edit
    def erase_result(self, function: Function, index: int) -> None:
        """Erases a result of a function, which its calls must not use."""
        func = self._function(function)
        check_index(function, "result", index, len(func.function_type.results))
        if any(call.results[index].has_uses for call in sharding_edits.calls_of(func)):
            raise ValueError(f"result {index} of {function!r} is still used by a call")
        sharding_edits.erase_results(func, {index}, self._ir)

    @edit
    def set_argument_attribute(self, argument: Value, name: str, value: AttributeValue | None) -> None:
        """Sets an attribute of an argument of a function, or removes it."""
        func, inner = self._argument(argument)
        new = None if value is None else Attribute.of(value).ir
        self._ir.set_argument_attribute(func, inner.index, name, new)

    @edit
    def set_result_attribute(
        self, function: Function, index: int, name: str, value: AttributeValue | None
    ) -> None:
        """Sets an attribute of a result of a function, or removes it."""
        new = None if value is None else Attribute.of(value).ir
        func = self._function(function)
        check_index(function, "result", index, len(func.function_type.results))
        self._ir.set_result_attribute(func, index, name, new)

    @edit
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

    @edit
    def erase_mesh(self, name: str) -> None:
        """Erases a mesh, to which no sharding may refer."""
        op = self._mesh_op(name)
        if op is None:
            raise ValueError(f"the module has no mesh @{name}; {nearest_or_all(name, self.meshes)}")
        self._ir.erase(op)

    # --- Patterns -----------------------------------------------------------------------------

    @edit
    def apply(self, *patterns: Pattern, max_iterations: int = 10, folds: bool = False) -> None:
        """Applies patterns until none matches, and erases operations that are dead.

        With `folds`, as `canonicalize` does, operations are also folded, regions simplified and equal
        constants merged. Raises ValueError if some pattern still matches after `max_iterations` over the
        program, in each of which patterns match at most ten times per operation; it names the pattern that
        matched last, and the operation.
        """
        ordered = sorted(patterns, key=lambda pattern: -pattern.benefit)
        for pattern in ordered:
            if pattern.operation is not None:
                self._op_class(pattern.operation)
        matches = Matches()

        def patterns_of(op_class: type[Op]) -> list[ir_patterns.Pattern]:
            traits = {trait.name for trait in op_class.traits}
            return [
                ir_patterns.Pattern(self._rewrite_of(pattern, matches), _name_of(pattern))
                for pattern in ordered
                if pattern.operation in (None, op_class.name) and pattern.trait in (None, *traits)
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
            raise ValueError(f"{matches.last} after {max_iterations} iterations{matches.others}")

    def _rewrite_of(self, pattern: Pattern, matches: Matches) -> Callable[[Op, ir.Rewriter], bool]:
        def rewrite(op: Op, rewriter: ir.Rewriter) -> bool:
            name, location = op.signature.name, op.location
            with self._using(rewriter):
                is_match = pattern.rewrite(operation_view(self._program, op), self)
            if is_match:
                matches.add(_name_of(pattern), name, location)
            return is_match

        return rewrite
