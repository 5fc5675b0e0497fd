"""sdy-resolve-single-device-sharding: run operations with a sharding on a single device on that device.

    sdy.mesh @mesh = <["x"=2]>
    sdy.mesh @device_1 = <[], device_ids=[1]>

    %0 = sdy.reshard %a <@device_1, []>
    %1 = stablehlo.custom_call @f(%0) {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>}
    %2 = sdy.reshard %1 <@mesh, [{}, {}]>
becomes
    %0 = stablehlo.partition_id
    %1 = stablehlo.convert %0
    %2 = stablehlo.constant dense<1>
    %3 = stablehlo.compare EQ, %1, %2
    %4 = "stablehlo.if"(%3) ({
      %6 = stablehlo.custom_call @f(%a)
      stablehlo.return %6
    }, {
      %6 = stablehlo.constant dense<0.0>
      stablehlo.return %6
    })
    %5 = sdy.all_reduce {"x"} %4 out_sharding=<@mesh, [{}, {}]>

The device computes the results, and the others get them by an all-reduce with their zeros, along all axes of
the first mesh that has axes. `sdy-reshard-single-devices` inserts the reshards, which make operands
available on every device.

Operations that communicate in their regions, calls, and operations in manual computations run on every device
instead: devices that do not run them would be waited for. So do operations whose results have no zeros. Other
reshards to and from a single device, as of function arguments, are removed, because every device has the
tensor.
"""

from __future__ import annotations

from functools import cache

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, AxisRefList
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup, MeshOp, find_mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import is_sharded, rank_of, sharding_of
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.control_flow import IfOp, OptimizationBarrierOp, ReturnOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp, CreateTokenOp
from sdyopt.mlir.dialects.stablehlo.replica_groups import CollectiveOp as StablehloCollectiveOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.dialects.stablehlo.types import TokenType
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements, element_size
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import ComplexType, FloatType, IndexType, IntegerType, RankedTensor, Type
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.local_builder import LocalBuilder
from sdyopt.shardy.partition.local_context import LocalTypes, device_id, raw_device_id
from sdyopt.shardy.partition.outlining import inputs_of

from ..exporting.explicit_reshards.single_devices import global_mesh, has_single_devices

# Operations that may communicate: all devices that take part must run them.
_COMMUNICATING = (
    CollectiveOp,
    StablehloCollectiveOp,
    stablehlo.CollectivePermuteOp,
    stablehlo.CrossReplicaSumOp,
    CallOp,
    ManualComputationOp,
)


@register("sdy-resolve-single-device-sharding")
class ResolveSingleDeviceSharding(Pass):
    anchor = FUNCTION

    replica_count: int = option(default=1, help="number of replicas of the program")
    partition_count: int = option(default=1, help="number of partitions of each replica")

    def run(self, function: FuncOp) -> bool:
        mesh = global_mesh(function)
        if mesh is None:
            return False
        if self.replica_count > 1 and self.partition_count > 1:
            raise function.error(
                "Shardy partitioner does not support replica_count > 1 && partition_count > 1 yet."
            )
        mesh_of = cache(lambda mesh_or_ref: find_mesh(mesh_or_ref, function))
        if not has_single_devices(function, mesh_of):
            return False
        resolver = _Resolver(function, mesh, mesh_of, self.replica_count > 1)
        resolver.resolve_ops()
        resolver.remove_reshards()
        return resolver.rewriter.changed


class _Resolver:
    """Resolves the operations of one function."""

    def __init__(self, function: FuncOp, mesh: MeshOp, mesh_of: MeshLookup, is_replicated: bool) -> None:
        self.rewriter = Rewriter()
        self._function = function
        self._mesh = mesh
        self._ref = SymbolRef(mesh.sym_name)
        self._is_replicated = is_replicated
        self._find_mesh = mesh_of

    def resolve_ops(self) -> None:
        """Resolves the operations on a single device, except those nested in such an operation."""
        placed: list[tuple[Op, int]] = []
        nested: set[Op] = set()
        for op in self._function.walk():
            device = self._device_of_op(op)
            if op.parent_op in nested:
                nested.add(op)
            elif device is not None and _can_run_alone(op):
                placed.append((op, device))
                nested.add(op)
        for op, device in placed:
            self._resolve(op, device)

    def remove_reshards(self) -> None:
        """Removes the remaining reshards of replicated tensors to and from a single device."""
        for op in self._function.nested(ReshardOp):
            before, after = sharding_of(op.input), op.sharding
            is_maximal = any(self._device(sharding) is not None for sharding in (before, after))
            if is_maximal and all(s is None or s.is_fully_replicated for s in (before, after)):
                value = op.input
                if self._is_resharded(op):
                    value = without_sharding(value, op, self.rewriter)
                self.rewriter.replace(op, [value])

    def _is_resharded(self, op: ReshardOp) -> bool:
        """Whether a reshard from a single device is followed by one between all devices."""
        users = [user for user in op.result.users if isinstance(user, ReshardOp)]
        return self._device(op.sharding) is None and any(self._device(u.sharding) is None for u in users)

    # --- Operations ---------------------------------------------------------------------------

    def _resolve(self, op: Op, device: int) -> None:
        """Runs an operation on a device, and adds its results to zeros of the other devices."""
        builder = LocalBuilder(op, self.rewriter)
        here = (raw_device_id if Behavior.INT32_OFFSETS.active else device_id)(builder, self._is_replicated)
        condition = builder.compare(here, builder.index(device, ranked(here).element), "EQ")
        reshards = self._operand_reshards(op)
        run, skip = self._run_branch(op, reshards), self._zeros_branch(op)
        types = [result.type for result in op.results]
        results = builder.create(IfOp, [condition], types, regions=[run, skip]).results
        for old, new in zip(op.results, results, strict=True):
            if isinstance(old.type, RankedTensor):
                self._all_reduce(old, new, old.type.rank, builder)
            else:
                self.rewriter.replace_all_uses(old, new)
        self.rewriter.erase(op)
        for reshard in dict.fromkeys(reshards.values()):
            if not reshard.result.has_uses:
                self.rewriter.erase(reshard)

    def _run_branch(self, op: Op, reshards: dict[Value, ReshardOp]) -> Region:
        """A copy of an operation, with the operands before their reshards to the device."""
        region, copy = Region(), self.rewriter.clone(op)
        block = region.add_block()
        for nested in copy.walk():
            self.rewriter.remove_attribute(nested, SHARDING)
        for use in copy.operand_uses:
            if use.value in reshards:
                self.rewriter.set_operand(use, reshards[use.value].input)
        self.rewriter.insert(copy, at_end_of=block)
        self.rewriter.create(ReturnOp, copy.results, at_end_of=block, location=op.lazy_location)
        return region

    def _zeros_branch(self, op: Op) -> Region:
        """Zeros and tokens of the types of the results."""
        region, rewriter, location = Region(), self.rewriter, op.lazy_location
        block = region.add_block()
        zeros: list[Value] = []
        for result in op.results:
            type = result.type
            if isinstance(type, RankedTensor):
                zero = DenseElements(type, bytes(element_size(type.element)))
                made = rewriter.create(
                    ConstantOp, (), [type], {"value": zero}, at_end_of=block, location=location
                )
            else:
                made = rewriter.create(CreateTokenOp, (), [type], at_end_of=block, location=location)
            zeros.append(made.result)
        rewriter.create(ReturnOp, zeros, at_end_of=block, location=location)
        return region

    def _all_reduce(self, old: OpResult, new: Value, rank: int, builder: LocalBuilder) -> None:
        """Replaces a result, and its reshards to the mesh, with an all-reduce of the branches' results."""
        replicated = fully_replicated(rank, self._ref, is_closed=True)
        axes = AxisRefList(tuple([AxisRef(axis.name) for axis in self._mesh.mesh.axes]))
        attributes = {"reduction_axes": axes, "out_sharding": replicated}
        reduced = builder.create(AllReduceOp, [new], [new.type], attributes).result
        for use in list(old.uses):
            if isinstance(use.owner, ReshardOp) and use.owner.sharding is replicated:
                self.rewriter.replace(use.owner, [reduced])
            else:
                self.rewriter.set_operand(use, reduced)

    def _operand_reshards(self, op: Op) -> dict[Value, ReshardOp]:
        """The reshards to a single device among the definitions of operands."""
        return {
            value: definition
            for value in op.operands
            if isinstance(definition := value.defining_op, ReshardOp)
            and self._device(definition.sharding) is not None
        }

    # --- Devices ------------------------------------------------------------------------------

    def _device_of_op(self, op: Op) -> int | None:
        """The single device that results are on; None if there is none.

        Raises DiagnosticError for results on several devices, or on other devices than those of the mesh.
        """
        if not op.results or op.dialect_name == "sdy":
            return None
        shardings = [sharding_of(r) for r in op.results if isinstance(r.type, RankedTensor)]
        devices = dict.fromkeys([device for s in shardings if (device := self._device(s)) is not None])
        if not devices:
            return None
        if len(devices) > 1:
            raise op.op_error("has conflicting single-device result shardings")
        is_sharded = any(s is not None and not s.is_fully_replicated for s in shardings)
        # A call runs on every device, whatever the shardings of its results.
        if is_sharded and not isinstance(op, CallOp):
            raise op.op_error("has a result on a single device, and one that is sharded").help(
                "run -sdy-reshard-single-devices before"
            )
        (device,) = devices
        ids = self._mesh.mesh.device_ids or range(self._mesh.mesh.total_size)
        if device not in ids:
            raise op.op_error(f"runs on device {device}, which is not in the mesh @{self._mesh.sym_name}")
        return device

    def _device(self, sharding: TensorSharding | None) -> int | None:
        """The single device of a sharding on a maximal mesh; None for any other sharding."""
        mesh = None if sharding is None else self._find_mesh(sharding.mesh_or_ref)
        return mesh.device_ids[0] if mesh is not None and mesh.is_maximal else None


def _can_run_alone(op: Op) -> bool:
    """Whether only one device may run an operation."""
    if any(isinstance(nested, _COMMUNICATING) for nested in op.walk()):
        return False
    if op.regions and any(map(is_sharded, inputs_of(op)[len(op.operands) :])):
        # Its regions read shards of values from outside.
        return False
    outer = op.parent_op
    while outer is not None:
        if isinstance(outer, ManualComputationOp):
            return False
        outer = outer.parent_op
    return all(isinstance(result.type, TokenType) or _has_zero(result.type) for result in op.results)


def _has_zero(type: Type) -> bool:
    if not isinstance(type, RankedTensor) or not type.has_static_shape:
        return False
    return isinstance(type.element, IntegerType | FloatType | ComplexType | IndexType)


def resolve_mesh_change(op: ReshardOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Splits a reshard between meshes with different axes at a replicated tensor.

    Of a reshard to or from a single device, the part between the replicated tensor and the device is left to
    `sdy-resolve-single-device-sharding`.
    """
    before, after = types.sharding(op.input), op.sharding
    mesh_after = types.mesh(after)
    if before is None or mesh_after is None:
        return
    mesh_before = types.mesh(before)
    if mesh_before is None or before.mesh_or_ref is after.mesh_or_ref:
        return
    if mesh_before.is_maximal or mesh_after.is_maximal:
        between = before if mesh_after.is_maximal else after
        if not between.is_fully_replicated:
            rewriter.set_operand(op.operand_uses[0], _replicated(op, between, rewriter))
        return
    if mesh_before.axes == mesh_after.axes:
        return
    value = op.input
    if not before.is_fully_replicated:
        value = _replicated(op, before, rewriter)
    rewriter.set_operand(op.operand_uses[0], without_sharding(value, op, rewriter))


def without_sharding(value: Value, op: ReshardOp, rewriter: Rewriter) -> Value:
    """A value that is whole on every device, behind a barrier without a sharding before `op`.

    So it is replicated on any mesh.
    """
    return rewriter.create(
        OptimizationBarrierOp, [value], [value.type], before=op, location=op.lazy_location
    ).result


def _replicated(op: ReshardOp, like: TensorSharding, rewriter: Rewriter) -> Value:
    """The input of a reshard, replicated on the mesh of a sharding."""
    replicated = fully_replicated(rank_of(op.input.type), like.mesh_or_ref, is_closed=True)
    return rewriter.create(
        ReshardOp, [op.input], [op.input.type], {"sharding": replicated}, before=op, location=op.lazy_location
    ).result
