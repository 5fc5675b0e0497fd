"""Operations, blocks and values of a program, as views. A `Rewriter` edits what they show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sdyopt.base import diagnostics as ir_diagnostics
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp, enclosing_module
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op, sharding_in, sharding_of
from sdyopt.mlir.ir import block as ir_block
from sdyopt.mlir.ir import value as ir_value
from sdyopt.mlir.ir.op_fields import AttrField, Field, OperandField, RegionField, ResultField, SuccessorField
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface, is_private, symbol_name, type_of_function
from sdyopt.tools.api.attributes import Attribute, Type, ir_location
from sdyopt.tools.api.errors import Location, location_of
from sdyopt.tools.api.program import IrProgram, OfProgram
from sdyopt.tools.api.shardings import Mesh, Sharding, mesh_data, sharding_data

# The text and the location of a note.
Note = tuple[str, Location]


class Operation(OfProgram):
    """An operation. `str` is its text. Views of the same operation are equal."""

    __slots__ = ("_program", "ir")

    ir: Op

    def __init__(self, program: IrProgram, ir: Op) -> None:
        self._program = program
        self.ir = ir

    @property
    def name(self) -> str:
        """The name with the dialect, such as `stablehlo.add`."""
        return self.ir.signature.name

    @property
    def dialect(self) -> str:
        """The name of the dialect, such as `stablehlo`."""
        return self.ir.dialect_name

    @property
    def symbol_name(self) -> str | None:
        """The name of a function or another symbol, without `@`; None for other operations."""
        return symbol_name(self.ir)

    @property
    def operands(self) -> tuple[Value, ...]:
        return tuple([Value(self._program, operand) for operand in self.ir.operands])

    @property
    def results(self) -> tuple[Value, ...]:
        return tuple([Value(self._program, result) for result in self.ir.results])

    @property
    def attributes(self) -> dict[str, Attribute]:
        """All attributes by name, inherent ones first."""
        entries = (*self.ir.inherent_attributes(), *self.ir.attributes)
        return {name: Attribute(attribute) for name, attribute in entries}

    @property
    def regions(self) -> tuple[tuple[Block, ...], ...]:
        """The blocks of each region."""
        return tuple([tuple([Block(self._program, b) for b in region.blocks]) for region in self.ir.regions])

    @property
    def successors(self) -> tuple[Block, ...]:
        """The blocks to which a terminator branches."""
        return tuple([Block(self._program, block) for block in self.ir.successors])

    @property
    def traits(self) -> frozenset[str]:
        """The names of the traits, such as `pure`, `terminator` and `elementwise`."""
        return frozenset([trait.name for trait in self.ir.traits])

    @property
    def fields(self) -> dict[str, Any]:
        """The declared operands, results, attributes, regions and successors, by name.

        An operand or a result is a `Value`, a tuple of them if it is variadic; an attribute its Python value,
        None if it is missing; a region the tuple of its blocks. Each is also a member of this object:
        `operation.dot_dimension_numbers.lhs_batching_dimensions`.
        """
        fields = self.ir.fields.items()
        return {_field_name(name, field): self._field(field) for name, field in fields}

    def _field(self, field: Field) -> Any:
        value: Any = getattr(self.ir, field.field_name)
        match field:
            case AttrField():
                attribute = self.ir.attribute(field.name) or field.default
                return None if attribute is None else Attribute(attribute).value
            case OperandField() | ResultField():
                if isinstance(value, ir_value.Value):
                    return Value(self._program, value)
                return None if value is None else tuple([Value(self._program, item) for item in value])
            case RegionField():
                regions = value if field.is_variadic else (value,)
                blocks = [tuple([Block(self._program, b) for b in region.blocks]) for region in regions]
                return tuple(blocks) if field.is_variadic else blocks[0]
            case SuccessorField():
                targets = value if field.is_variadic else (value,)
                views = tuple([Block(self._program, block) for block in targets])
                return views if field.is_variadic else views[0]
        raise AssertionError(field)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name != "ir":
            for own, field in self.ir.fields.items():
                if name in (own, _field_name(own, field)):
                    return self._field(field)
            names = [_field_name(own, field) for own, field in self.ir.fields.items()]
            raise AttributeError(f"{self.name} has no field {name!r}; {nearest_or_all(name, names)}")
        raise AttributeError(name)

    def __dir__(self) -> Iterable[str]:
        fields = [_field_name(name, field) for name, field in self.ir.fields.items()]
        return [*super().__dir__(), *fields]

    @property
    def parent(self) -> Operation | None:
        """The enclosing operation; None for the module."""
        parent = self.ir.parent_op
        return None if parent is None else operation_view(self._program, parent)

    @property
    def location(self) -> Location:
        """The source location, such as a line of the Python program."""
        return location_of(self.ir.location)

    def walk(self) -> Iterator[Operation]:
        """This operation and all nested ones, in the order of the text."""
        return (operation_view(self._program, op) for op in self.ir.walk())

    # --- Diagnostics ----------------------------------------------------------------------

    def error(self, message: str, *notes: Note, help: str = "") -> Exception:
        """An error at this operation, for passes and edits to raise, with notes and help."""
        error = self.ir.error(message)
        for text, location in notes:
            error.note(text, ir_location(location))
        return error.help(help) if help else error

    def warning(self, message: str, *notes: Note, help: str = "") -> None:
        """Reports a warning of a pass or an edit."""
        with self._program.being_edited():
            self.ir.warning(message, *_ir_notes(notes), help=help)

    def remark(self, message: str, *notes: Note, help: str = "") -> None:
        """Reports a remark of a pass or an edit."""
        with self._program.being_edited():
            self.ir.remark(message, *_ir_notes(notes), help=help)

    def __str__(self) -> str:
        return self._program.op_text(self.ir)

    def __repr__(self) -> str:
        symbol = self.symbol_name
        return f"<{self.name}{'' if symbol is None else f' @{symbol}'}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operation) and self.ir is other.ir

    def __hash__(self) -> int:
        return hash(self.ir)


def _field_name(name: str, field: Field) -> str:
    """The name of a field in programs: that of an attribute, if it has one of its own."""
    return field.name if isinstance(field, AttrField) else name


class Function(Operation):
    """An operation that defines or declares a function, such as `func.func`."""

    __slots__ = ()

    ir: FunctionOpInterface

    @property
    def arguments(self) -> tuple[Value, ...]:
        """The arguments of the body; none for a declaration."""
        entry = self.ir.regions[0].entry
        return () if entry is None else Block(self._program, entry).arguments

    @property
    def body(self) -> Block:
        """The entry block. Raises ValueError for a declaration."""
        entry = self.ir.regions[0].entry
        if entry is None:
            raise ValueError(f"{self!r} is a declaration, which has no body")
        return Block(self._program, entry)

    @property
    def result_types(self) -> tuple[Type, ...]:
        return tuple([Type(type) for type in type_of_function(self.ir).results])

    @property
    def result_shardings(self) -> tuple[Sharding | None, ...]:
        """The sharding of each result; None for a result without one."""
        shardings = [sharding_in(attributes) for attributes in self.ir.result_attributes]
        return tuple(
            [None if sharding is None else sharding_data(sharding, self.ir) for sharding in shardings]
        )

    @property
    def is_private(self) -> bool:
        return is_private(self.ir)


class Block(OfProgram):
    """A block of a region: arguments, and operations in order."""

    __slots__ = ("_program", "ir")

    ir: ir_block.Block

    def __init__(self, program: IrProgram, ir: ir_block.Block) -> None:
        self._program = program
        self.ir = ir

    @property
    def arguments(self) -> tuple[Value, ...]:
        return tuple([Value(self._program, argument) for argument in self.ir.arguments])

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple([operation_view(self._program, op) for op in self.ir.ops])

    @property
    def parent(self) -> Operation | None:
        """The operation with the region of this block; None for an erased block."""
        parent = self.ir.parent_op
        return None if parent is None else operation_view(self._program, parent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self.ir is other.ir

    def __hash__(self) -> int:
        return hash(self.ir)


class Value(OfProgram):
    """The result of an operation or the argument of a block. `str` is text such as `%0: tensor<8xf32>`."""

    __slots__ = ("_program", "ir")

    ir: ir_value.Value

    def __init__(self, program: IrProgram, ir: ir_value.Value) -> None:
        self._program = program
        self.ir = ir

    @property
    def name(self) -> str:
        """The name in the printed program, such as `%0` or `%3#1`."""
        return self._program.name(self.ir)

    @property
    def type(self) -> Type:
        return Type(self.ir.type)

    @property
    def sharding(self) -> Sharding | None:
        """The sharding; None if the value has none."""
        sharding = sharding_of(self.ir)
        return None if sharding is None else sharding_data(sharding, self._owner)

    @property
    def local_shape(self) -> tuple[int | None, ...] | None:
        """The shape on one device; None for a type without a rank."""
        shape, sharding = self.type.shape, self.sharding
        return shape if shape is None or sharding is None else sharding.local_shape(shape)

    @property
    def is_argument(self) -> bool:
        """Whether it is the argument of a block."""
        return isinstance(self.ir, ir_value.BlockArgument)

    @property
    def index(self) -> int:
        """The position among the results of the operation or the arguments of the block."""
        assert isinstance(self.ir, ir_value.OpResult | ir_value.BlockArgument)
        return self.ir.index

    @property
    def owner(self) -> Operation:
        """The operation that defines a result, or that encloses the block of an argument."""
        return operation_view(self._program, self._owner)

    @property
    def defining_op(self) -> Operation | None:
        """The operation that defines a result; None for an argument."""
        return None if self.is_argument else self.owner

    @property
    def block(self) -> Block:
        """The block in which the value is defined."""
        assert self.ir.block is not None
        return Block(self._program, self.ir.block)

    @property
    def users(self) -> tuple[Operation, ...]:
        """The operations that use the value, each once.

        In a parsed program, those after the definition are in the order of the text.
        """
        users = dict.fromkeys(self.ir.users)
        return tuple([operation_view(self._program, op) for op in reversed(users)])

    @property
    def location(self) -> Location:
        return location_of(self.ir.location)

    @property
    def _owner(self) -> Op:
        assert isinstance(self.ir, ir_value.OpResult | ir_value.BlockArgument)
        return owning_op(self.ir)

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self.ir is other.ir

    def __hash__(self) -> int:
        return hash(self.ir)


class ProgramView:
    """The view of a program that modules and rewriters share."""

    __slots__ = ()

    _program: IrProgram

    def walk(self) -> Iterator[Operation]:
        """All operations in the order of the text, the module itself first."""
        return operation_view(self._program, self._program.op).walk()

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations directly in the module, such as functions and meshes."""
        return tuple([operation_view(self._program, op) for op in self._top_level])

    @property
    def functions(self) -> dict[str, Function]:
        """The functions directly in the module, by name."""
        ops = (op for op in self.operations if isinstance(op, Function))
        return {op.symbol_name or "": op for op in ops}

    @property
    def meshes(self) -> dict[str, Mesh]:
        """The meshes of the `sdy.mesh` operations, by name."""
        ops = (op for op in self._top_level if isinstance(op, MeshOp))
        return {op.sym_name: mesh_data(op.mesh, op.sym_name) for op in ops}

    @property
    def _top_level(self) -> Iterator[Op]:
        """The operations of the module, which a pass on functions does not edit."""
        module = enclosing_module(self._program.op)
        assert module is not None
        return module.block.ops


def _ir_notes(notes: Iterable[Note]) -> list[tuple[str, ir_diagnostics.Location]]:
    return [(text, ir_location(location)) for text, location in notes]


def operation_view(program: IrProgram, op: Op) -> Operation:
    """The view of an operation of a program."""
    return Function(program, op) if isinstance(op, FunctionOpInterface) else Operation(program, op)
