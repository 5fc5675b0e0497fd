"""The mesh itself: `mesh.mesh @grid(shape = 2x?x4)`, a grid of devices."""

from __future__ import annotations

import re

from sdyopt.asm.format.assembly_format import AttrDict, Custom, assembly
from sdyopt.asm.format.print_template import Template
from sdyopt.asm.lexical import TRIVIA
from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.asm.symbol_names import symbol_name_directive
from sdyopt.dialects.mesh.axes import Axes
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.constraints import I64_ARRAY, STRING_ATTR
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.op_fields import attr
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import lookup_symbol
from sdyopt.ir.traits import SYMBOL
from sdyopt.ir.types import DYNAMIC, I64

_DIMENSION = re.compile(r"\d+|\?")
_EMPTY_LIST = re.compile(rf"{TRIVIA}\[{TRIVIA}\]")
_FAILED = "Failed parsing dimension list."


def _parse_shape(op_parser: OpAsmParser) -> None:
    op_parser.attributes["shape"] = DenseArray(I64, tuple(_dimensions(op_parser)))


def _dimensions(op_parser: OpAsmParser) -> list[int]:
    if (match := _EMPTY_LIST.match(op_parser.text, op_parser.position)) is not None:
        op_parser.position = match.end()
        return []
    sizes: list[int] = []
    position = op_parser.skip_trivia()
    while (match := _DIMENSION.match(op_parser.text, position)) is not None:
        sizes.append(DYNAMIC if match[0] == "?" else int(match[0]))
        position = match.end()
        if not op_parser.text.startswith("x", position):
            op_parser.position = position
            return sizes
        position += 1
    if not sizes:
        raise op_parser.error(f'{_FAILED} Did you mean an empty list? It must be denoted by "[]".', position)
    raise AsmParser.error(op_parser, "invalid dimension", position).then(op_parser.error(_FAILED, position))


def _write_shape(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    sizes = ["?" if size == DYNAMIC else str(size) for size in signature.shape]
    out.word("x".join(sizes) or "[]")


class MeshOp(Op):
    """A grid of devices by name; axis `i` has `shape[i]` devices, or an unknown number of them."""

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
        if not signature.shape:
            raise signature.op_error("rank of mesh is expected to be a positive integer")
        if any(size < 0 and size != DYNAMIC for size in signature.shape):
            raise signature.op_error("dimension size of a mesh is expected to be non-negative or dynamic")

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def group_size(self, axes: Axes) -> int:
        """How many devices there are along some axes together; `DYNAMIC` if that is not known."""
        size = 1
        for axis in axes:
            if self.shape[axis] == DYNAMIC:
                return DYNAMIC
            size *= self.shape[axis]
        return size


@mesh.op("mesh", SYMBOL)
class Mesh19Op(MeshOp):
    """A grid of devices. In LLVM 19 nothing says that it has no effects."""

    __slots__ = ()


def find_mesh(op: Op, name: str) -> MeshOp:
    """The mesh of this name, in the symbol table around `op`; an error at `op` if there is none."""
    found = lookup_symbol(op, name)
    if not isinstance(found, MeshOp):
        raise op.error(f'Undefined required mesh symbol "{name}".')
    return found


def check_axes(op: Op, grid: MeshOp, axes: Axes) -> None:
    """Fails at `op` unless the axes are different ones of the mesh."""
    if len(set(axes)) != len(axes):
        raise op.error("Mesh axes contains duplicate elements.")
    for axis in axes:
        if not 0 <= axis < grid.rank:
            raise op.error(
                f"0-based mesh axis index {axis} is out of bounds. The referenced mesh "
                f'"{grid.sym_name}" is of rank {grid.rank}.'
            )
