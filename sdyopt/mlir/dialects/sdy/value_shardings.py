"""The shardings of values, the data-flow edges that store some, and values that differ in sharding."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.assembly_directives import (
    ANY_SHAPED,
    SHARDING_ATTR,
)
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, sdy
from sdyopt.mlir.dialects.sdy.sharding import (
    MeshOrRef,
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
)
from sdyopt.mlir.dialects.sdy.sharding_checks import check_sharding
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.op_fields import operand, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_TYPE
from sdyopt.mlir.ir.traits import FUNCTION, RENAMES_OPERANDS
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult, Value


@sdy.op("data_flow_edge", SAME_TYPE)
class DataFlowEdgeOp(ShardingOwner):
    """Takes the owner of a data-flow edge, and stores the sharding of all values of the edge."""

    input = operand(ANY_SHAPED)
    sharding = optional_attr(SHARDING_ATTR)
    output = result(ANY_SHAPED)

    assembly = assembly(
        "$input custom<Named>($sharding) attr-dict `:` custom<ConstrainedType>($output, $input)"
    )

    def result_sharding(self, index: int) -> TensorSharding | None:
        return self.sharding

    def verify_symbol_uses(self) -> None:
        _check_static(self)
        if not self.input.has_one_use:
            raise self.op_error("expected input of sdy.data_flow_edge to have a single user")
        definition = self.input.defining_op
        if definition is not None and definition.dialect_name == "sdy" and definition.data_flow is None:
            raise self.op_error(
                "expected input of sdy.data_flow_edge to not be defined by an SdyDialect op (other than an "
                "sdy.named_computation)."
            ).note("sdy op defining the input of the sdy.data_flow_edge", definition.location)
        if self.sharding is not None:
            check_sharding(self, self.sharding, self.signature.result_types[0], self.op_error)


@sdy.op("func_data_flow_edge", SAME_TYPE)
class FuncDataFlowEdgeOp(Op):
    """Takes a function argument or a call result, so that shardings propagate between caller and callee."""

    input = operand(ANY_SHAPED)
    output = result(ANY_SHAPED)

    assembly = assembly("$input attr-dict `:` custom<ConstrainedType>($output, $input)")

    def verify_symbol_uses(self) -> None:
        _check_static(self)
        value = self.input
        if not value.has_one_use:
            raise self.op_error("expected operand of sdy.func_data_flow_edge to have a single user")
        if isinstance(value, BlockArgument):
            parent = value.block.parent_op
            if parent is None or FUNCTION not in parent.traits:
                raise self.op_error(
                    "expected operand of sdy.func_data_flow_edge to be a block argument of a func op."
                )
        elif not isinstance(value.defining_op, CallOp):
            raise self.op_error("expected operand of sdy.func_data_flow_edge to be a result of call op.")


def _check_static(op: Op) -> None:
    (type,) = op.signature.result_types
    if not isinstance(type, RankedShapedType) or not type.has_static_shape:
        raise op.op_error(f"expected {op.name} to have a static-shaped result. type: '{plain_type(type)}'")


def sharding_of(value: Value) -> TensorSharding | None:
    """The sharding of a value, None if it has none."""
    # The usual case first: a result of an operation without data-flow edges. No function is more frequent, so
    # this is `sharding_of_result` in place.
    if type(value) is OpResult and (op := value.op).data_flow is None:
        if isinstance(op, ShardingOwner):
            return op.result_sharding(value.index)
        shardings = op.attributes.get(SHARDING)
        return shardings.at(value.index) if isinstance(shardings, ShardingPerValue) else None
    owner = shardable_value(value)
    if isinstance(owner, OpResult):
        return sharding_of_result(owner)
    if owner is None:
        return None
    op, index = owning_op(owner), owner.index
    if FUNCTION in op.traits:
        sharding = op.argument_attributes[index].get(SHARDING)  # type: ignore[attr-defined]  # of functions
        return sharding if isinstance(sharding, TensorSharding) else None
    return op.argument_sharding(index) if isinstance(op, ShardingOwner) else sharding_of_argument(owner)


# The attribute of an operation whose block arguments own data-flow edges: the shardings of these.
IN_SHARDINGS = "in_shardings"


def argument_owners(op: Op) -> list[BlockArgument]:
    """The block arguments that own data-flow edges of an operation."""
    return [owner for owner in op.data_flow.owners(op) if isinstance(owner, BlockArgument)]


def sharding_of_argument(owner: BlockArgument) -> TensorSharding | None:
    """The sharding of a block argument that owns a data-flow edge, which the operation stores for it."""
    op = owning_op(owner)
    shardings = op.attribute(IN_SHARDINGS)
    index = argument_owners(op).index(owner)
    return shardings.at(index) if isinstance(shardings, ShardingPerValue) else None


def sharding_of_result(result: OpResult) -> TensorSharding | None:
    """The sharding that a result stores; see `shardable_value`."""
    op = result.op
    if isinstance(op, ShardingOwner):
        return op.result_sharding(result.index)
    shardings = op.attributes.get(SHARDING)
    return shardings.at(result.index) if isinstance(shardings, ShardingPerValue) else None


def sharding_or_replicated(value: Value, mesh_or_ref: MeshOrRef, is_closed: bool = False) -> TensorSharding:
    """The sharding of a value; a fully replicated one if it has none."""
    return sharding_of(value) or fully_replicated(rank_of(value.type), mesh_or_ref, is_closed)


def shardable_value(value: Value) -> OpResult | BlockArgument | None:
    """The value that stores the sharding of `value`; None if no value does.

    For a target of a data-flow edge it is the result of the `sdy.data_flow_edge`, if there is one, or else
    the edge's owner.
    """
    assert isinstance(value, OpResult | BlockArgument)
    op = owning_op(value)
    if op.data_flow is not None:
        edge = edge_of(value)
        owner = op.data_flow.owner_of_target(op, value) if edge is None else edge.results[0]
        assert owner is None or isinstance(owner, OpResult | BlockArgument)
        return owner
    if isinstance(value, OpResult):
        return value
    if FUNCTION in op.traits:
        # Arguments of a later block, which a branch gives it, are not those of the function.
        return value if value.block is op.regions[0].blocks[0] else None
    if RENAMES_OPERANDS in op.traits:
        operand = op.operand_at(value.index)
        assert isinstance(operand, OpResult | BlockArgument)
        # As in Shardy, this is not recursive.
        return operand if shardable_value(operand) is operand else None
    return None


def edge_of(target: Value) -> DataFlowEdgeOp | None:
    """The `sdy.data_flow_edge` of the edge that a value is a target of, if there is one."""
    assert isinstance(target, OpResult | BlockArgument)
    op = owning_op(target)
    owner = None if op.data_flow is None else op.data_flow.owner_of_target(op, target)
    return None if owner is None else edge_of_owner(owner)


def edge_of_owner(owner: Value) -> DataFlowEdgeOp | None:
    """The `sdy.data_flow_edge` that takes the owner of an edge, if there is one."""
    user = owner.first_use.owner if owner.first_use is not None and owner.has_one_use else None
    return user if isinstance(user, DataFlowEdgeOp) else None


def sources_of_edge(edge: DataFlowEdgeOp) -> list[OpOperand] | None:
    """The sources of the data-flow edge whose owner an `sdy.data_flow_edge` takes; None if it takes none."""
    owner = edge.input
    assert isinstance(owner, OpResult | BlockArgument)
    op = owning_op(owner)
    if op.data_flow is None or op.data_flow.owner_of_target(op, owner) is not owner:
        return None
    sources: list[OpOperand] = op.data_flow.sources(op, owner)
    return sources


def is_sharded(value: Value) -> bool:
    """Whether a value has a sharding with axes."""
    sharding = sharding_of(value)
    return sharding is not None and not sharding.is_fully_replicated


def sharding_in(attributes: DictAttr) -> TensorSharding | None:
    """The sharding in the attributes of an argument or result; None if there is none."""
    sharding = attributes.get(SHARDING)
    return sharding if isinstance(sharding, TensorSharding) else None


def block_or_result(value: Value) -> OpResult | BlockArgument:
    """The value, as one of the two kinds that there are."""
    assert isinstance(value, OpResult | BlockArgument)
    return value


def owning_op(value: OpResult | BlockArgument) -> Op:
    """The operation that defines a result, or that has the region of a block argument."""
    op = value.op if isinstance(value, OpResult) else value.block.parent_op
    assert op is not None
    return op


def rank_of(type: Type) -> int:
    """The number of dimensions; 0 for types without a rank."""
    return type.rank if isinstance(type, RankedShapedType) else 0


def distinct_values(root: Op) -> Iterator[Value]:
    """Values with every pair of a type and a sharding that occurs in `root`.

    They are much fewer than all values, because the layers of a model repeat their types and shardings.
    """
    seen: set[tuple[OpSignature, DictAttr]] = set()
    for op in root.walk():
        if op.regions and (op.data_flow is not None or not op.traits.isdisjoint(_WITH_SHARDED_ARGUMENTS)):
            for region in op.regions:
                for block in region.blocks:
                    yield from block.arguments
        key = op.signature, op.attributes
        # Shardings that results do not store themselves are stored by a `sdy.data_flow_edge`.
        if key not in seen:
            seen.add(key)
            yield from op.results


# Besides operations with data-flow edges, those whose block arguments have shardings.
_WITH_SHARDED_ARGUMENTS = (FUNCTION, RENAMES_OPERANDS)
