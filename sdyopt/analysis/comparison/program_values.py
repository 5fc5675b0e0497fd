"""The values of a program as plain data, with their shardings and with numbers for what is alike.

`defined` stands for the operations that a value is computed from, `used` for those that it is used by. After
a change of an operation, the values before it keep `defined`, and those after it keep `used`. Names,
locations and shardings do not count, and neither do operations that only move data: reshards, collectives of
sdy and sharding constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import StrEnum

from sdyopt.analysis.comparison.value_sharding import (
    ValueSharding,
    gspmd_argument,
    gspmd_function_result,
    gspmd_result,
    local_bytes,
)
from sdyopt.analysis.figures.execution_counts import CONTROL_FLOW, CallLocations, ExecutionCounts, constant_of
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.source_locations import (
    GRADIENTS,
    NO_LOCATION,
    SourceLocation,
    UserLines,
    code_of,
    constraint_text,
    is_derived,
    source_location,
)
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import (
    ManualComputationOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
)
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, FuncDataFlowEdgeOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface, is_private, symbol_name, type_of_function
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.mlir.value_names import name_of, name_of_result

# The operation that both forms of a sharding constraint count as.
CONSTRAINT = "sharding_constraint"


class ValueRole(StrEnum):
    """The role of a value in its function. A manual input is an operand of a manual computation."""

    ARGUMENT = "argument"
    RESULT = "result"
    MANUAL_INPUT = "manual input"
    OPERATION = "operation"


@dataclass(slots=True, eq=False)
class ProgramValue:
    """A value with its sharding.

    `name` is the SSA name, or `result 0`; `label` is what the program calls it: the name of an argument, or a
    name stack. `op` is the name of the operation that it belongs to, `path` are those around it. `bytes` are
    those on one device. If it `is_located`, the program states a location, which is not just the line of its
    own text.
    `defined` and `used` stand for the operations that it is computed from, and that use it; `outline_defined`
    and `outline_used` for the names of these alone; None if unknown.
    `callee` is the function that is called, `code` the user's function and file, without a line. `statement`
    is what a constraint is called in JAX, such as `reshard`, and `written_at` the line that has it, which may
    call a helper; "" for those that JAX derives from others.
    """

    role: ValueRole
    function: str
    name: str
    label: str
    op: str
    path: tuple[str, ...]
    type: str
    rank: int
    sharding: ValueSharding | None
    bytes: int | None
    location: SourceLocation
    is_located: bool
    is_constant: bool = False
    defined: int | None = None
    used: int | None = None
    outline_defined: int | None = None
    outline_used: int | None = None
    callee: str = ""
    code: str = ""
    statement: str = ""
    written_at: str = ""

    @property
    def is_interface(self) -> bool:
        """Whether it is a value whose sharding users annotate."""
        return self.role is not ValueRole.OPERATION or self.op == CONSTRAINT


@dataclass(slots=True, eq=False)
class FunctionValues:
    """The values of a function: arguments, results, and those in its body."""

    name: str
    is_public: bool
    arguments: list[ProgramValue] = field(default_factory=list)
    results: list[ProgramValue] = field(default_factory=list)
    body: list[ProgramValue] = field(default_factory=list)

    def __iter__(self) -> Iterator[ProgramValue]:
        yield from self.arguments
        yield from self.results
        yield from self.body


@dataclass(slots=True, eq=False)
class ProgramValues:
    """The functions of a program, and its meshes by name.

    If it `is_partial`, the program has more values than these.
    """

    name: str
    meshes: dict[str, Mesh] = field(default_factory=dict)
    functions: list[FunctionValues] = field(default_factory=list)
    is_partial: bool = False
    # What `defined` and `used` are hashes of, which must not be freed while they are compared.
    alive: set[Hashable] = field(default_factory=set, repr=False)

    def __iter__(self) -> Iterator[ProgramValue]:
        for function in self.functions:
            yield from function

    @property
    def is_gspmd(self) -> bool:
        """Whether shardings are those of GSPMD, which have no mesh."""
        return any(value.sharding is not None and value.sharding.gspmd for value in self)

    @property
    def mesh(self) -> Mesh | None:
        """The mesh with the most devices."""
        return max(self.meshes.values(), key=lambda mesh: mesh.total_size, default=None)


def values_of(module: Op, source_name: str) -> ProgramValues:
    """The values of a module that was parsed from a source of this name. The module is not changed."""
    return _Collector(module, source_name).values()


class _Collector:
    def __init__(self, module: Op, source_name: str) -> None:
        self._module = module
        self._source_name = source_name
        self._names = SsaNames(module).names
        self._shapes = LocalShapes(module)
        self._calls = CallLocations(ExecutionCounts(module))
        self._lines = UserLines.of_module(module)
        self._structure = Structure()
        self._printer = AttributePrinter()
        self._types: dict[Type, str] = {}
        self._sharding_of: dict[TensorSharding, ValueSharding] = {}

    def values(self) -> ProgramValues:
        program_values = ProgramValues(self._source_name, alive=self._structure.full.alive)
        for op in self._module.walk():
            if isinstance(op, MeshOp):
                program_values.meshes[op.sym_name] = op.mesh
            elif isinstance(op, FunctionOpInterface):
                program_values.functions.append(self._function(op))
        return program_values

    def _function(self, function: FunctionOpInterface) -> FunctionValues:
        entry = function.regions[0].entry
        arguments = () if entry is None else entry.arguments
        locations = [source_location(argument.location) for argument in arguments]
        labels = [
            name_of(argument) or place.name_stack
            for argument, place in zip(arguments, locations, strict=True)
        ]
        results = [name_of_result(function, index) for index in range(len(function.result_attributes))]
        self._structure.add_function(function, labels, results)
        name = symbol_name(function) or ""
        function_values = FunctionValues(name, not is_private(function))
        for argument, location in zip(arguments, locations, strict=True):
            sharding = self._sharding(argument) or gspmd_argument(function, argument.index)
            function_values.arguments.append(
                self._value(argument, ValueRole.ARGUMENT, name, location, sharding, function, ())
            )
        function_values.results.extend(self._results(function, name))
        paths: dict[Op, tuple[str, ...]] = {function: ()}
        for op in function.walk():
            # The regions of other operations, such as a reduction, compute with scalars.
            if (path := paths.get(op.parent_op or op)) is None or op is function:
                continue
            if isinstance(op, CONTROL_FLOW):
                paths[op] = (*path, op.signature.name)
            if op.results and not is_transparent(op):
                function_values.body.extend(self._op_values(op, name, path))
            if isinstance(op, ManualComputationOp):
                function_values.body.extend(self._manual_inputs(op, name, path))
        return function_values

    def _results(self, function: FunctionOpInterface, name: str) -> Iterator[ProgramValue]:
        structure, returned = self._structure, self._structure.returned(function)
        for index, type in enumerate(type_of_function(function).results):
            attributes = function.result_attributes[index]
            attribute = attributes.get(SHARDING)
            sharding = self._value_sharding(attribute) if isinstance(attribute, TensorSharding) else None
            sharding = sharding or gspmd_function_result(function, index)
            yield ProgramValue(
                ValueRole.RESULT,
                name,
                f"result {index}",
                name_of_result(function, index),
                "",
                (),
                self._type(type),
                _rank(type),
                sharding,
                local_bytes(type, sharding),
                NO_LOCATION,
                False,
                defined=structure.full.defined.get(returned[index]) if returned else None,
                outline_defined=structure.outline.defined.get(returned[index]) if returned else None,
            )

    def _op_values(self, op: Op, name: str, path: tuple[str, ...]) -> Iterator[ProgramValue]:
        location = self._calls.completed(source_location(op.location), op)
        code = code_of(op.location) if location.file != self._source_name else ""
        for result in op.results:
            sharding = self._sharding(result) or gspmd_result(op, result.index)
            value = self._value(result, ValueRole.OPERATION, name, location, sharding, op, path)
            value.is_constant = op in self._structure.constants
            value.code = code
            if isinstance(op, CallOp):
                value.callee = op.callee
            # Whether JAX has a constraint from others: on a gradient, or of explicit axes from operands.
            if value.op == CONSTRAINT and not (
                is_derived(op) or source_location(op.location).phase in GRADIENTS
            ):
                value.statement = constraint_text(op)
                value.written_at = self._lines.chosen(location).file_text
            yield value

    def _manual_inputs(
        self, op: ManualComputationOp, name: str, path: tuple[str, ...]
    ) -> Iterator[ProgramValue]:
        """The operands of a manual computation, with its input shardings in place of their own."""
        location = source_location(op.location)
        for index, operand in enumerate(op.operands):
            in_sharding = op.in_shardings.at(index)
            sharding = None if in_sharding is None else self._value_sharding(in_sharding)
            value = self._value(operand, ValueRole.MANUAL_INPUT, name, location, sharding, op, path)
            value.name = f"{value.name} into a manual computation"
            value.code = code_of(op.location) if value.location.file != self._source_name else ""
            yield value

    def _value(
        self,
        value: Value,
        role: ValueRole,
        function: str,
        location: SourceLocation,
        sharding: ValueSharding | None,
        op: Op,
        path: tuple[str, ...],
    ) -> ProgramValue:
        is_located = location.file != self._source_name and bool(location.path_text)
        return ProgramValue(
            role,
            function,
            self._names[value],
            location.name_stack,
            "" if role is ValueRole.ARGUMENT else CONSTRAINT if is_constraint(op) else op.signature.name,
            path,
            self._type(value.type),
            _rank(value.type),
            sharding,
            local_bytes(value.type, sharding),
            location,
            is_located or bool(location.name_stack),
            defined=self._structure.full.defined.get(value),
            used=self._structure.full.used.get(value),
            outline_defined=self._structure.outline.defined.get(value),
            outline_used=self._structure.outline.used.get(value),
        )

    # --- Parts of a value -----------------------------------------------------------------

    def _sharding(self, value: Value) -> ValueSharding | None:
        sharding = self._shapes.sharding(value)
        return None if sharding is None else self._value_sharding(sharding)

    def _value_sharding(self, sharding: TensorSharding) -> ValueSharding:
        if (value_sharding := self._sharding_of.get(sharding)) is None:
            value_sharding = ValueSharding(sharding, self._shapes.mesh(sharding.mesh_or_ref))
            self._sharding_of[sharding] = value_sharding
        return value_sharding

    def _type(self, type: Type) -> str:
        if (text := self._types.get(type)) is None:
            text = self._types[type] = self._printer.type(type)
        return text


def _rank(type: Type) -> int:
    return type.rank if isinstance(type, RankedShapedType) else -1


# What sharding passes insert and remove: a result stands for the operand.
_TRANSPARENT = (ReshardOp, CollectiveOp, PropagationBarrierOp, DataFlowEdgeOp, FuncDataFlowEdgeOp)
_GSPMD_CONSTRAINT = "Sharding"


def is_transparent(op: Op) -> bool:
    """Whether an operation computes its operand, maybe sharded differently, and is no constraint."""
    return isinstance(op, _TRANSPARENT)


def is_constraint(op: Op) -> bool:
    """Whether an operation is a sharding constraint, of sdy or of GSPMD."""
    if isinstance(op, CustomCallOp):
        return op.call_target_name == _GSPMD_CONSTRAINT
    return isinstance(op, ShardingConstraintOp)


class Structure:
    """The structure of the functions that are added, in full and in outline.

    The outline has the names of operations alone: it is the same if a size that all types depend on changes.
    `constants` are the operations that compute with nothing but constants: passes copy and merge these.
    """

    def __init__(self) -> None:
        self.full = StructureHashes(label_of)
        self.outline = StructureHashes(lambda op: op.signature.name)
        self.constants: set[Op] = set()
        self._returned: dict[Op, Sequence[Value]] = {}

    def returned(self, function: Op) -> Sequence[Value]:
        """The values that a function returns; none for a declaration."""
        return self._returned.get(function, ())

    def add_function(
        self, function: FunctionOpInterface, arguments: Sequence[str], results: Sequence[str]
    ) -> None:
        """Adds the values in a function. An argument or result without a name counts by its index."""
        entry = function.regions[0].entry
        if entry is None:
            return
        ops = [op for op in function.walk() if op is not function]
        for op in ops:
            if constant_of(op) is not None or self._computes_with_constants(op):
                self.constants.add(op)
        for hashes in (self.full, self.outline):
            hashes.add_arguments(entry.arguments, arguments)
            hashes.add(ops)
            if entry.last is not None:
                hashes.add_results(entry.last, results)
            hashes.add_uses(ops)
        if entry.last is not None:
            self._returned[function] = entry.last.operands

    def _computes_with_constants(self, op: Op) -> bool:
        return not op.regions and all(use.value.defining_op in self.constants for use in op.operand_uses)


class StructureHashes:
    """Numbers for values, by labels of the operations that they are computed from, and used by.

    `alive` has the labels: they are compared by identity, so they must not be freed.
    """

    def __init__(self, label_of: Callable[[Op], Hashable]) -> None:
        self.defined: dict[Value, int] = {}
        self.used: dict[Value, int] = {}
        self.alive: set[Hashable] = set()
        self._label_of = label_of
        self._terminators: set[Op] = set()

    def add_arguments(self, arguments: Sequence[BlockArgument], names: Sequence[str]) -> None:
        """Defines the arguments of a function, before the operations are added."""
        for argument, name in zip(arguments, names, strict=True):
            self.defined[argument] = hash(("argument", name or argument.index))

    def add_results(self, terminator: Op, names: Sequence[str]) -> None:
        """Adds the uses of the values that a function returns, before the uses by operations."""
        self._terminators.add(terminator)
        for use, name in zip(terminator.operand_uses, names, strict=False):
            self.used[use.value] = self.used.get(use.value, 0) + hash(("result", name or use.index))

    def add(self, ops: Sequence[Op]) -> None:
        """Defines the results of the operations in a function, which are in pre-order."""
        for op in ops:
            self._define(op)

    def add_uses(self, ops: Sequence[Op]) -> None:
        """Adds the uses of values by the same operations."""
        for op in reversed(ops):
            if op not in self._terminators:
                self._use(op)

    def _define(self, op: Op) -> None:
        defined, uses = self.defined, op.operand_uses
        if uses and (is_transparent(op) or is_constraint(op)):
            for result in op.results:
                defined[result] = defined.get(uses[0].value, 0)
            return
        label = self._label_of(op)
        self.alive.add(label)
        key = hash((label, *[defined.get(use.value, 0) for use in uses]))
        for result in op.results:
            defined[result] = hash((key, result.index))
        for number, region in enumerate(op.regions):
            for block_number, block in enumerate(region.blocks):
                for argument in block.arguments:
                    defined[argument] = hash((key, number, block_number, argument.index))

    def _use(self, op: Op) -> None:
        used, uses = self.used, op.operand_uses
        if uses and (is_transparent(op) or is_constraint(op)):
            value = uses[0].value
            used[value] = used.get(value, 0) + sum([used.get(result, 0) for result in op.results])
            return
        key = hash((self._label_of(op), *[used.get(result, 0) for result in op.results]))
        for use in uses:
            # A sum, because the order of uses is no structure.
            used[use.value] = used.get(use.value, 0) + hash((key, use.index))


# Symbols may be renamed; shardings are what is compared.
_IGNORED: tuple[type[Attribute], ...] = (
    SymbolRef,
    TensorSharding,
    ShardingPerValue,
    ManualAxes,
    OpShardingRule,
)


def label_of(op: Op) -> Hashable:
    """The label of an operation: its signature without symbols and shardings."""
    return op.signature.cached(_label)


def _label(signature: OpSignature) -> Hashable:
    kept = [(name, value) for name, value in signature.attributes if not isinstance(value, _IGNORED)]
    if len(kept) == len(signature.attributes):
        return signature
    return signature.name, tuple(kept), signature.operand_types, signature.result_types
