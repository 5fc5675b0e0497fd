"""mesh.shard: how a tensor is laid out on a mesh, said of its producer or asked for by its users."""

from __future__ import annotations

from sdyopt.asm.format.assembly_format import AttrDict, Custom, Operand, assembly
from sdyopt.asm.format.print_template import Template
from sdyopt.asm.format.typed_operands import TypeIn
from sdyopt.asm.format.unit_attr import UnitKeyword
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.location import UnknownLoc
from sdyopt.dialects.mesh.collective_base import RANKED
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.dialects.mesh.sharding import SHARDING_ATTR, MeshSharding, parse_sharding, sharding_text
from sdyopt.dialects.mesh.sharding_value import SHARDING_TYPE, SHARDING_VALUE
from sdyopt.ir.attribute import UNIT, Attribute, DictAttr
from sdyopt.ir.constraints import UNIT_ATTR
from sdyopt.ir.dialect import Dialect
from sdyopt.ir.op_fields import operand, optional_attr, optional_operand, result
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import PURE, Trait
from sdyopt.ir.types import RankedTensor
from sdyopt.ir.value import LazyLocation, Value


def _parse_sharding(op_parser: OpAsmParser) -> None:
    name = op_parser.accept_operand()
    if name is None:
        op_parser.attributes["shard"] = parse_sharding(op_parser)
    else:
        op_parser.operand_names["sharding"] = [name]
        op_parser.types["sharding"] = [SHARDING_TYPE]


def _write_sharding(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    if signature.shard is None:
        out.operands([1])
    else:
        out.word(sharding_text(signature.shard))


def _check_same_type(signature: OpSignature) -> None:
    """The tensor, not the sharding, has the type of the result."""
    if signature.operand_types[0] is not signature.result_types[0]:
        raise signature.op_error("requires the same type for all operands and results")


SAME_TENSOR_TYPE = Trait("same-tensor-type", _check_same_type)


class ShardingSource(Op):
    """An operation whose result is a sharding that is known."""

    __slots__ = ()

    @property
    def mesh_sharding(self) -> MeshSharding:
        raise NotImplementedError


@mesh.op("shard", PURE, SAME_TENSOR_TYPE)
class ShardOp(Op):
    """An annotation, which the value passes unchanged: how it is laid out on a mesh.

        %1 = mesh.shard %0 to <@grid, [[0], [1]]> : tensor<4x8xf32>
        %2 = mesh.shard %1 to <@grid, [[0]]> annotate_for_users : tensor<4x8xf32>

    Without `annotate_for_users` it says how the producer leaves the value, with it how the users of the
    result want it. One behind the other they ask for the value to be laid out anew. In later forms the
    sharding is a value: `mesh.shard %0 to %sharding`.
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
        TypeIn("result", RankedTensor, same=["src"]),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if signature.shard is None and signature.sharding is None:
            raise signature.op_error("requires attribute 'shard'")

    @classmethod
    def make(
        cls,
        rewriter: Rewriter,
        value: Value,
        mesh_sharding: MeshSharding,
        attributes: dict[str, Attribute],
        location: LazyLocation,
        before: Op | None,
        after: Op | None,
    ) -> Op:
        """Makes such an operation at a place."""
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
        """The sharding, wherever it is written."""
        return mesh_sharding_of(self.shard, self.sharding)

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "sharding_annotated")]


def mesh_sharding_of(attribute: MeshSharding | None, value: Value | None) -> MeshSharding:
    """The sharding that an attribute is, or a value comes from."""
    if attribute is not None:
        return attribute
    source = value.defining_op if value is not None else None
    if not isinstance(source, ShardingSource):
        raise DiagnosticError.at(
            UnknownLoc() if value is None else value.location, "sharding is not known here"
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
    """Makes an annotation, in the form of a version of the dialect."""
    attributes: dict[str, Attribute] = {"annotate_for_users": UNIT} if is_for_users else {}
    op_class = dialect.ops["shard"]
    assert issubclass(op_class, ShardOp)
    made = op_class.make(rewriter, value, mesh_sharding, attributes, location, before, after)
    assert isinstance(made, ShardOp)
    return made
