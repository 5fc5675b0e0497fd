"""mesh-spmdization: from a program on whole tensors to the program that each device runs.

    func.func @f(%a: tensor<6x9xf32>) -> tensor<6x9xf32> {
      %0 = mesh.shard %a to <@grid, [[0]]> : tensor<6x9xf32>
      %1 = mesh.shard %0 to <@grid, [[0]]> annotate_for_users : tensor<6x9xf32>
      %2 = tosa.exp %1 : (tensor<6x9xf32>) -> tensor<6x9xf32>
      %3 = mesh.shard %2 to <@grid, [[0]]> : tensor<6x9xf32>
      return %3 : tensor<6x9xf32>
    }
becomes, where the mesh has three devices,
    func.func @f(%a: tensor<2x9xf32>) -> tensor<2x9xf32> {
      %0 = tosa.exp %a : (tensor<2x9xf32>) -> tensor<2x9xf32>
      return %0 : tensor<2x9xf32>
    }

Annotations turn into the types of shards, and where two follow each other, into the communication that
leads from one to the other. Every tensor must be annotated; sharding-propagation sees to that. An
operation that nothing is known of is copied, which is right where its tensors are whole on every
device.
"""

from __future__ import annotations

from sdyopt.asm.printer.attribute_printer import plain_type
from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.linalg import MatmulOp
from sdyopt.dialects.mesh.axes import Axes, axes_attribute
from sdyopt.dialects.mesh.collectives import AllReduceOp
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.dialects.mesh.dialect_version import mesh_dialect_of
from sdyopt.dialects.mesh.shard_op import ShardingSource, ShardOp
from sdyopt.dialects.mesh.shard_shapes import local_type
from sdyopt.dialects.mesh.sharding import MeshSharding
from sdyopt.dialects.mesh.sharding_op import GetShardingOp
from sdyopt.ir.attribute import TypeAttr
from sdyopt.ir.block import Block
from sdyopt.ir.elements_attributes import DenseElements
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import FunctionType, RankedTensor, Type
from sdyopt.ir.value import Value
from sdyopt.ir.verify_signature import signature_problem
from sdyopt.pipeline import FUNCTION, Pass
from sdyopt.registry import register

from .spmd.iterator_axes import IteratorAxes
from .spmd.iterator_types import IterationSpace
from .spmd.mesh_resharding import reshard
from .spmd.partial_reductions import InitOnFirstDevice
from .spmd.sharding_interface import has_iteration_space, iteration_space_of

_NOT_ALIKE = "operands and results are split in ways that do not go together"
_ONE_BLOCK = "only one block is supported!"


@register("mesh-spmdization")
class Spmdization(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        if function.is_declaration:
            return False
        if len(function.body.blocks) > 1:
            raise function.op_error(_ONE_BLOCK)
        if mesh_dialect_of(function) is not mesh and not _has_annotations(function):
            return False
        _check_is_annotated(function)
        rewriter = Rewriter()
        _Partition(function, rewriter).run()
        return rewriter.changed


def _has_annotations(function: FuncOp) -> bool:
    return any(isinstance(op, ShardOp) for op in function.entry.ops)


def _check_is_annotated(function: FuncOp) -> None:
    """Every tensor has one annotation by which it is made, and is used through annotations."""
    values: list[Value] = list(function.entry.arguments)
    for op in function.entry.ops:
        if not isinstance(op, ShardOp | ShardingSource):
            values += op.results
            if not all(map(_is_fine_operand, op.operands)):
                raise _not_annotated(function)
    for value in values:
        uses = list(value.uses)
        if isinstance(value.type, RankedTensor) and uses and not _is_annotated(value):
            raise _not_annotated(function)


def _is_fine_operand(value: Value) -> bool:
    return not isinstance(value.type, RankedTensor) or isinstance(value.defining_op, ShardOp)


def _is_annotated(value: Value) -> bool:
    """Whether all users are annotations, and those by which it is made agree."""
    users = list(value.users)
    if not all(isinstance(user, ShardOp) for user in users):
        return False
    made_as = [
        user.mesh_sharding for user in users if isinstance(user, ShardOp) and not user.annotate_for_users
    ]
    return all(sharding.is_equivalent_to(made_as[0]) for sharding in made_as)


def _not_annotated(function: FuncOp) -> Exception:
    return function.op_error("is not fully annotated with shardings")


def _annotation_of(value: Value) -> ShardOp | None:
    """The annotation that says how a value is made: the first by its producer, else the first."""
    users = [user for user in value.users if isinstance(user, ShardOp)][::-1]
    return next((user for user in users if not user.annotate_for_users), users[0] if users else None)


def _layout_of(value: Value) -> MeshSharding | None:
    """The sharding by which a value is made."""
    annotation = _annotation_of(value)
    return None if annotation is None else annotation.mesh_sharding


class _Partition:
    """Makes the body anew, in a second block, and drops the first."""

    def __init__(self, function: FuncOp, rewriter: Rewriter) -> None:
        self._function = function
        self._rewriter = rewriter
        self._old = function.entry
        self._new = Block()
        self._values: dict[Value, Value] = {}

    def run(self) -> None:
        function, rewriter = self._function, self._rewriter
        function.body.add_block(self._new)
        for argument in self._old.arguments:
            local = self._local(argument.type, _layout_of(argument), argument)
            self._values[argument] = rewriter.add_argument(self._new, local, argument.location)
        for op in self._old.ops:
            if isinstance(op, ShardOp):
                self._values[op.result] = self._annotated(op)
            elif isinstance(op, ShardingSource):
                self._keep_sharding(op)
            else:
                self._copy(op)
        rewriter.erase_block(self._old)
        inputs = tuple(argument.type for argument in self._new.arguments)
        last = self._new.last
        assert last is not None
        type = FunctionType(inputs, last.operand_types)
        rewriter.set_attribute(function, "function_type", TypeAttr(type))

    def _keep_sharding(self, op: ShardingSource) -> None:
        """A sharding as a value is needed only by those who do more than annotate with it."""
        if all(isinstance(user, ShardOp | ShardingSource) for user in op.results[0].users):
            return
        source: Op = op
        while isinstance(source, GetShardingOp):
            held = source.annotation.sharding
            if held is None or held.defining_op is None:
                raise source.error("expected a shard op as source of get_sharding")
            source = held.defining_op
        copy = self._rewriter.clone(source, dict(self._values))
        self._rewriter.insert(copy, at_end_of=self._new)
        self._values[op.results[0]] = copy.results[0]

    def _local(self, type: Type, sharding: MeshSharding | None, value: Value) -> Type:
        if sharding is None or not isinstance(type, RankedTensor):
            return type
        annotation = _annotation_of(value)
        assert annotation is not None
        return local_type(type, sharding, annotation)

    def _annotated(self, op: ShardOp) -> Value:
        value, whole = self._values[op.src], op.src.type
        before = op.src.defining_op
        source = before.mesh_sharding if isinstance(before, ShardOp) else _layout_of(op.src)
        assert isinstance(whole, RankedTensor) and source is not None
        if op is _annotation_of(op.src) and not isinstance(before, ShardOp):
            return value
        return reshard(self._rewriter, value, source, op.mesh_sharding, whole, op, at_end_of=self._new)

    def _copy(self, op: Op) -> None:
        """The operation on shards."""
        space = iteration_space_of(op) if has_iteration_space(op) else None
        reduced = _split_reductions(op, space) if isinstance(op, MatmulOp) and space is not None else ()
        sharding = _layout_of(op.results[0]) if op.results else None
        if reduced and sharding is not None and space is not None:
            self._copy_sum(op, space, reduced, sharding)
            return
        copy = self._rewriter.clone(op, self._values)
        self._rewriter.insert(copy, at_end_of=self._new)
        # The form of a copy is that of the original; its operands have other types.
        self._rewriter.set_operands(copy, copy.operands)
        if space is not None and space.is_local:
            for old, new in zip(op.results, copy.results, strict=True):
                self._rewriter.set_type(new, self._local(old.type, _layout_of(old), old))
            if not space.needs_loops:
                self._adapt(op, copy, space)
            return
        if (
            not op.is_terminator
            and self._is_split(op)
            and signature_problem(copy.signature, plain_type) is None
        ):
            raise op.op_error("can only be copied where its operands and results are fully replicated")

    def _copy_sum(self, op: Op, space: IterationSpace, axes: Axes, sharding: MeshSharding) -> None:
        """A linalg operation that sums over a split dimension."""
        values = [self._values[value] for value in op.operands]
        values[-1] = InitOnFirstDevice(self._rewriter, self._new, sharding.mesh, axes, op).of(values[-1])
        copy = self._rewriter.clone(op, self._values)
        self._rewriter.insert(copy, at_end_of=self._new)
        self._rewriter.set_operands(copy, values)
        result = op.results[0]
        self._rewriter.set_type(copy.results[0], self._local(result.type, sharding, result))
        left = tuple(axis for axis in axes if axis not in sharding.partial_axes)
        self._values[result] = self._combined(copy.results[0], left, space, sharding, op)

    def _adapt(self, op: Op, copy: Op, space: IterationSpace) -> None:
        """Makes a copy of an operation with a rule right: operands and results go together."""
        axes = IteratorAxes(space)
        for value, map in zip(op.operands, space.operand_maps, strict=True):
            sharding = _layout_of_operand(value)
            if sharding is not None and (sharding.partial_axes or not axes.learn(sharding, map)):
                raise op.op_error(_NOT_ALIKE)
        reduced = tuple(axis for iterator in space.reductions for axis in axes.axes_of(iterator))
        for result, copied, map in zip(op.results, copy.results, space.result_maps, strict=True):
            sharding = _layout_of(result)
            if sharding is None:
                continue
            if not axes.learn(sharding, map) or not set(sharding.partial_axes) <= set(reduced):
                raise op.op_error(_NOT_ALIKE)
            left = tuple(axis for axis in reduced if axis not in sharding.partial_axes)
            self._values[result] = self._combined(copied, left, space, sharding, op)
        constant = copy.signature.attributes.get("value")
        if isinstance(constant, DenseElements) and constant.type is not copy.result_types[0]:
            type = copy.result_types[0]
            assert isinstance(type, RankedTensor)
            self._rewriter.set_attribute(copy, "value", DenseElements(type, constant.data))

    def _combined(
        self, value: Value, axes: Axes, space: IterationSpace, sharding: MeshSharding, op: Op
    ) -> Value:
        """The value, put together along the axes that what made it was split along."""
        if not axes:
            return value
        all_reduce = mesh_dialect_of(op).ops["all_reduce"]
        assert issubclass(all_reduce, AllReduceOp)
        attributes = {
            "mesh": sharding.mesh,
            "mesh_axes": axes_attribute(axes),
            "reduction": all_reduce.reduction_class(space.reduction),
        }
        made = self._rewriter.create(
            all_reduce, [value], [value.type], attributes, at_end_of=self._new, location=op.location
        )
        return made.results[0]

    def _is_split(self, op: Op) -> bool:
        shardings = [_layout_of(result) for result in op.results]
        for value in op.operands:
            annotation = value.defining_op
            if isinstance(annotation, ShardOp):
                shardings.append(annotation.mesh_sharding)
        return any(sharding is not None and not sharding.is_replicated for sharding in shardings)


def _layout_of_operand(value: Value) -> MeshSharding | None:
    annotation = value.defining_op
    return annotation.mesh_sharding if isinstance(annotation, ShardOp) else None


def _split_reductions(op: Op, space: IterationSpace) -> Axes:
    """The mesh axes along which what an operation sums over is split."""
    axes = IteratorAxes(space)
    for value, map in zip(op.operands, space.operand_maps, strict=True):
        sharding = _layout_of_operand(value)
        if sharding is not None and not axes.learn(sharding, map):
            raise op.op_error(_NOT_ALIKE)
    return tuple(axis for iterator in space.reductions for axis in axes.axes_of(iterator))
