"""mesh.shard: annotates a tensor with a sharding, for its producer or for its users."""

from __future__ import annotations

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.asm.format.assembly_format import AttrDict, Custom, Operand, assembly
from sdyopt.mlir.asm.format.directives import TypeOfClass, UnitKeyword
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.mesh.collective_base import RANKED
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.dialects.mesh.sharding import SHARDING_ATTR, MeshSharding, parse_sharding, sharding_text
from sdyopt.mlir.dialects.mesh.sharding_value import SHARDING_TYPE, SHARDING_VALUE
from sdyopt.mlir.ir.attribute import UNIT, Attribute, DictAttr
from sdyopt.mlir.ir.constraints import UNIT_ATTR
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import operand, optional_attr, optional_operand, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import PURE, Trait
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import LazyLocation, Value


def _parse_sharding(op_parser: OpAsmParser) -> None:
    name = op_parser.accept_operand()
    if name is None:
        op_parser.attributes["shard"] = parse_sharding(op_parser)
    else:
        op_parser.operand_names["sharding"] = [name]
        op_parser.types["sharding"] = [SHARDING_TYPE]


def _write_sharding(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    shard = signature[ShardOp.shard]
    if shard is None:
        out.operands([1])
    else:
        out.word(sharding_text(shard))


def _check_same_type(signature: OpSignature) -> None:
    """Raises unless the tensor operand, which is the first, has the result type."""
    if signature.operand_types[0] is not signature.result_types[0]:
        raise signature.op_error("requires the same type for all operands and results")


SAME_TENSOR_TYPE = Trait("same-tensor-type", _check_same_type)


class ShardingSource(Op):
    """Base of the operations whose result is a sharding."""

    __slots__ = ()

    @property
    def mesh_sharding(self) -> MeshSharding:
        """The sharding; raises if it is not known statically."""
        raise NotImplementedError


@mesh.op("shard", PURE, SAME_TENSOR_TYPE)
class ShardOp(Op):
    """Annotates a tensor with a sharding; the result is the operand.

        %1 = mesh.shard %0 to <@grid, [[0], [1]]> : tensor<4x8xf32>
        %2 = mesh.shard %1 to <@grid, [[0]]> annotate_for_users : tensor<4x8xf32>

    Without `annotate_for_users`, the definition of the tensor has this sharding; with it, the users of the
    result require this sharding. Partitioning inserts a reshard between annotations that differ. In LLVM 21
    the sharding is an operand: `mesh.shard %0 to %sharding`.
    """

    __slots__ = ()

    src = operand(RANKED)
    sharding = optional_operand(SHARDING_VALUE)
    shard = optional_attr(SHARDING_ATTR)
    annotate_for_users = optional_attr(UNIT_ATTR)
    result = result(RANKED)

    assembly = assembly(
        Operand("src"),
        "to",
        Custom(_parse_sharding, _write_sharding, elides=["shard"]),
        UnitKeyword("annotate_for_users"),
        AttrDict(),
        ":",
        TypeOfClass("result", RankedTensor, same=["src"]),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if signature[ShardOp.shard] is None and signature[ShardOp.sharding] is None:
            raise signature.op_error("requires attribute 'shard'")

    @classmethod
    def create(
        cls,
        rewriter: Rewriter,
        value: Value,
        mesh_sharding: MeshSharding,
        attributes: dict[str, Attribute],
        location: LazyLocation,
        before: Op | None,
        after: Op | None,
    ) -> Op:
        """Creates an annotation at an insertion point, in the syntax of this class's version."""
        return rewriter.create(
            cls,
            [value],
            [value.type],
            {**attributes, "shard": mesh_sharding},
            before=before,
            after=after,
            location=location,
        )

    @property
    def mesh_sharding(self) -> MeshSharding:
        """The sharding of the attribute or the operand."""
        return mesh_sharding_of(self.shard, self.sharding)

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "sharding_annotated")]


def mesh_sharding_of(attribute: MeshSharding | None, value: Value | None) -> MeshSharding:
    """The sharding of an attribute or, without an attribute, of the operation that defines a value.

    Raises unless mesh.sharding or mesh.get_sharding defines the value.
    """
    if attribute is not None:
        return attribute
    source = value.defining_op if value is not None else None
    if not isinstance(source, ShardingSource):
        raise DiagnosticError.at(
            UnknownLoc() if value is None else value.location,
            "sharding must be defined by mesh.sharding or mesh.get_sharding",
        )
    return source.mesh_sharding


def make_shard(
    rewriter: Rewriter,
    dialect: Dialect,
    value: Value,
    mesh_sharding: MeshSharding,
    is_for_users: bool,
    location: LazyLocation,
    *,
    before: Op | None = None,
    after: Op | None = None,
) -> ShardOp:
    """Creates an annotation, in this version of the dialect."""
    attributes: dict[str, Attribute] = {"annotate_for_users": UNIT} if is_for_users else {}
    op_class = dialect.ops["shard"]
    assert issubclass(op_class, ShardOp)
    op = op_class.create(rewriter, value, mesh_sharding, attributes, location, before, after)
    assert isinstance(op, ShardOp)
    return op
