"""mesh.mesh: `mesh.mesh @grid(shape = 2x?x4)`, a mesh of devices."""

from __future__ import annotations

import re

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.format.assembly_format import AttrDict, Custom, assembly
from sdyopt.mlir.asm.format.directives import symbol_name_directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.lexical import TRIVIA
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.mesh.axes import Axes
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.constraints import I64_ARRAY, STRING_ATTR
from sdyopt.mlir.ir.op_fields import attr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.traits import SYMBOL
from sdyopt.mlir.ir.types import DYNAMIC, I64

_DIMENSION = re.compile(r"\d+|\?")
_LARGEST_SIZE = (1 << 63) - 1
_EMPTY_LIST = re.compile(rf"{TRIVIA}\[{TRIVIA}\]")
_PARSING_FAILED = "Failed parsing dimension list."


def _parse_shape(op_parser: OpAsmParser) -> None:
    op_parser.attributes["shape"] = DenseArray(I64, tuple(_dimensions(op_parser)))


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


def _write_shape(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    sizes = ["?" if size == DYNAMIC else str(size) for size in signature[MeshOp.shape]]
    out.word("x".join(sizes) or "[]")


class MeshOp(Op):
    """A named mesh of devices. The size of an axis may be dynamic."""

    __slots__ = ()

    sym_name = attr(STRING_ATTR)
    shape = attr(I64_ARRAY)

    assembly = assembly(
        symbol_name_directive(),
        "(",
        "shape",
        "=",
        Custom(_parse_shape, _write_shape, elides=["shape"]),
        ")",
        AttrDict(),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if not signature[MeshOp.shape]:
            raise signature.op_error("rank of mesh is expected to be a positive integer")
        if any(size < 0 and size != DYNAMIC for size in signature[MeshOp.shape]):
            raise signature.op_error("dimension size of a mesh is expected to be non-negative or dynamic")

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

    __slots__ = ()


def find_mesh(op: Op, name: str) -> MeshOp:
    """The mesh of this name in the nearest symbol table; raises an error at `op` if there is none."""
    symbol = lookup_symbol(op, name)
    if not isinstance(symbol, MeshOp):
        raise op.error(f'Undefined required mesh symbol "{name}".')
    return symbol


def check_axes(op: Op, mesh_op: MeshOp, axes: Axes) -> None:
    """Raises an error at `op` unless the axes are distinct axes of the mesh."""
    if len(set(axes)) != len(axes):
        raise op.error("Mesh axes contains duplicate elements.")
    for axis in axes:
        if not 0 <= axis < mesh_op.rank:
            raise op.error(
                f"0-based mesh axis index {axis} is out of bounds. The referenced mesh "
                f'"{mesh_op.sym_name}" is of rank {mesh_op.rank}.'
            )
