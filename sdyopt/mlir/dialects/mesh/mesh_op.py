"""mesh.mesh, and queries of its shape and of the position of a device."""

from __future__ import annotations

import re
from typing import ClassVar, TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.lexical import TRIVIA
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.mesh.attributes import AXES, NO_AXES, Axes, mesh, mesh_word
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, result, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, result_named
from sdyopt.mlir.ir.symbols import lookup_symbol, nearest_symbol_table
from sdyopt.mlir.ir.traits import FLAT_SYMBOL_ATTR, I64_ARRAY, INDEX_VALUE, PURE, STRING_ATTR, SYMBOL
from sdyopt.mlir.ir.types import DYNAMIC, I64

_UNDEFINED_MESH = ErrorKind(
    'Undefined required {word} symbol "{name}".', at="text {symbol}", explain="symbol"
)

_DIMENSION = re.compile(r"\d+|\?")
_LARGEST_SIZE = (1 << 63) - 1
_EMPTY_LIST = re.compile(rf"{TRIVIA}\[{TRIVIA}\]")
_PARSING_FAILED = "Failed parsing dimension list."


def _dimensions(op_parser: OpAsmParser) -> list[int]:
    if (match := _EMPTY_LIST.match(op_parser.text, op_parser.position)) is not None:
        op_parser.position = match.end()
        return []
    sizes: list[int] = []
    position = op_parser.skip_trivia()
    while (match := _DIMENSION.match(op_parser.text, position)) is not None:
        size = DYNAMIC if match[0] == "?" else int(match[0])
        if size > _LARGEST_SIZE:
            raise _invalid_dimension_error(op_parser, position)
        sizes.append(size)
        position = match.end()
        if not op_parser.text.startswith("x", position):
            op_parser.position = position
            return sizes
        position += 1
    if not sizes:
        raise op_parser.error(
            f'{_PARSING_FAILED} Did you mean an empty list? It must be denoted by "[]".', position
        )
    raise _invalid_dimension_error(op_parser, position)


def _invalid_dimension_error(op_parser: OpAsmParser, offset: int) -> DiagnosticError:
    error = AsmParser.error(op_parser, "invalid dimension", offset)
    return error.then(op_parser.error(_PARSING_FAILED, offset))


class MeshOp(Op):
    """A named mesh of devices. The size of an axis may be dynamic."""

    sym_name = attr(STRING_ATTR)
    shape = attr(I64_ARRAY)

    @staticmethod
    def _parse_shape(op_parser: OpAsmParser) -> None:
        op_parser.attributes["shape"] = DenseArray(I64, tuple(_dimensions(op_parser)))

    @staticmethod
    def _write_shape(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        sizes = ["?" if size == DYNAMIC else str(size) for size in signature[MeshOp.shape]]
        out.word("x".join(sizes) or "[]")

    assembly = assembly(
        "custom<SymbolName>($sym_name) `(` `shape` `=` custom<shape>($shape) `)` attr-dict",
        shape=custom(_parse_shape, _write_shape),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        word = mesh_word(signature.op_class.dialect.name)
        if not signature[MeshOp.shape]:
            raise signature.op_error(f"rank of {word} is expected to be a positive integer")
        if any(size < 0 and size != DYNAMIC for size in signature[MeshOp.shape]):
            raise signature.op_error(f"dimension size of a {word} is expected to be non-negative or dynamic")

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def group_size(self, axes: Axes) -> int:
        """The product of the sizes of the axes; `DYNAMIC` if a size is dynamic."""
        size = 1
        for axis in axes:
            if self.shape[axis] == DYNAMIC:
                return DYNAMIC
            size *= self.shape[axis]
        return size


@mesh.op("mesh", SYMBOL)
class Mesh19Op(MeshOp):
    """`mesh` in LLVM 19, where it is not declared pure."""


def find_mesh(op: Op, name: str) -> MeshOp:
    """The mesh of this name in the nearest symbol table; raises an error at `op` if there is none."""
    symbol = lookup_symbol(op, name)
    if not isinstance(symbol, MeshOp):
        word = mesh_word(op.dialect_name)
        raise op.error(_UNDEFINED_MESH(word=word, name=name, by=f"{op.dialect_name}.{word}"))
    return symbol


def check_axes(op: Op, mesh_op: MeshOp, axes: Axes) -> None:
    """Raises an error at `op` unless the axes are distinct axes of the mesh."""
    word = mesh_word(mesh_op.dialect_name)
    if len(set(axes)) != len(axes):
        raise op.error(f"{word.capitalize()} axes contains duplicate elements.")
    for axis in axes:
        if not 0 <= axis < mesh_op.rank:
            raise op.error(
                f"0-based {word} axis index {axis} is out of bounds. The referenced {word} "
                f'"{mesh_op.sym_name}" is of rank {mesh_op.rank}.'
            )


OpT = TypeVar("OpT", bound=Op)


def mesh_dialect_of(op: Op) -> Dialect:
    """The dialect of the first `mesh` operation in the enclosing symbol tables, innermost first.

    If there is no such operation, the LLVM 19 dialect.
    """
    table = nearest_symbol_table(op)
    while table is not None:
        for symbol in table.symbols():
            if isinstance(symbol, MeshOp):
                dialect: Dialect = symbol.dialect
                return dialect
        parent = table.parent_op
        table = None if parent is None else nearest_symbol_table(parent)
    return mesh


def op_class_in(dialect: Dialect, base: type[OpT]) -> type[OpT]:
    """The subclass of `base` that a version of the dialect registers."""
    return next(op_class for op_class in dialect.ops.values() if issubclass(op_class, base))


class AxesQuery(Op):
    """Base of the queries of axes: one result per axis in `axes` or, if `axes` is empty, per mesh axis."""

    mesh = attr(FLAT_SYMBOL_ATTR)
    axes = attr(AXES, default=NO_AXES)
    values = results(INDEX_VALUE)

    result_name: ClassVar[str]

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, self.result_name)] if self.results else []

    def verify_symbol_uses(self) -> None:
        mesh_op = find_mesh(self, self.mesh)
        check_axes(self, mesh_op, self.axes)
        expected = len(self.axes) or mesh_op.rank
        if len(self.results) != expected:
            raise self.error(f"Unexpected number of results {len(self.results)}. Expected {expected}.")


@mesh.op("mesh_shape", PURE)
class MeshShapeOp(AxesQuery):
    """The sizes of mesh axes.

        %sizes:2 = mesh.mesh_shape @grid axes = [2, 0] : index, index

    Without `axes`, the sizes of all axes in order.
    """

    result_name = "mesh_shape"
    assembly = assembly("$mesh (`axes` `=` $axes^)? attr-dict `:` type($values)")


@mesh.op("process_multi_index", PURE)
class ProcessMultiIndexOp(AxesQuery):
    """The multi-index of the executing device along `axes`, by default along all axes of the mesh.

    %index:2 = mesh.process_multi_index on @grid axes = [2, 0] : index, index
    """

    result_name = "proc_linear_idx"
    assembly = assembly("`on` $mesh (`axes` `=` $axes^)? attr-dict `:` type($values)")


@mesh.op("process_linear_index", PURE)
class ProcessLinearIndexOp(Op):
    """The linear index of the executing device, in row-major order.

        %index = mesh.process_linear_index on @grid : index

    On a mesh of shape 4x5x6, device (2, 3, 1) has the linear index (2 * 5 + 3) * 6 + 1.
    """

    mesh = attr(FLAT_SYMBOL_ATTR)
    value = result(INDEX_VALUE)

    assembly = assembly("`on` $mesh attr-dict `:` custom<IndexType>($value)")

    name_results = result_named("proc_linear_idx")

    def verify_symbol_uses(self) -> None:
        find_mesh(self, self.mesh)
