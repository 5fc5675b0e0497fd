"""mesh-spmdization: partition a sharded program into the program that each device runs.

    func.func @f(%a: tensor<6x9xf32>) -> tensor<6x9xf32> {
      %0 = mesh.shard %a to <@grid, [[0]]> : tensor<6x9xf32>
      %1 = mesh.shard %0 to <@grid, [[0]]> annotate_for_users : tensor<6x9xf32>
      %2 = tosa.exp %1 : (tensor<6x9xf32>) -> tensor<6x9xf32>
      %3 = mesh.shard %2 to <@grid, [[0]]> : tensor<6x9xf32>
      return %3 : tensor<6x9xf32>
    }
becomes, on a mesh of three devices,
    func.func @f(%a: tensor<2x9xf32>) -> tensor<2x9xf32> {
      %0 = tosa.exp %a : (tensor<2x9xf32>) -> tensor<2x9xf32>
      return %0 : tensor<2x9xf32>
    }

Global types become local types, and two consecutive annotations become the collectives that reshard from
the first to the second. Every tensor must be annotated; run sharding-propagation first. An operation that
cannot be applied to shards as it is must have replicated operands and results.
"""

from __future__ import annotations

from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.linalg.contractions import MatmulOp
from sdyopt.mlir.dialects.linalg.layout import GenericOp
from sdyopt.mlir.dialects.linalg.map_reduce import ReduceOp
from sdyopt.mlir.dialects.mesh.attributes import Axes, MeshSharding, axes_attribute, mesh
from sdyopt.mlir.dialects.mesh.collectives import AllReduceOp
from sdyopt.mlir.dialects.mesh.mesh_op import ProcessMultiIndexOp, mesh_dialect_of, op_class_in
from sdyopt.mlir.dialects.mesh.shard_op import GetShardingOp, ShardingSource, ShardOp, local_type, mesh_of
from sdyopt.mlir.dialects.tensor.values import EmptyOp
from sdyopt.mlir.ir.attribute import TypeAttr
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, FunctionType, RankedTensor, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.ir.verify_signature import signature_problem
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register

from .spmd.index_builder import IndexBuilder, init_on_first_device
from .spmd.mesh_resharding import reshard
from .spmd.sharding_interface import IterationSpace, IteratorAxes, iteration_space_of
from .spmd.sharding_models.linalg import neutral_element

_INCOMPATIBLE = "operands and results have incompatible shardings"
_ONE_BLOCK = "only one block is supported!"


@register("mesh-spmdization")
class Spmdization(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        if function.is_declaration:
            return False
        if len(function.body.blocks) > 1:
            raise function.op_error(_ONE_BLOCK)
        if mesh_dialect_of(function) is not mesh and not any(
            isinstance(op, ShardOp) for op in function.entry.ops
        ):
            return False
        _check_is_annotated(function)
        rewriter = Rewriter()
        _Partitioner(function, rewriter).run()
        return rewriter.changed


@register("shard-partition")
class Partition(Spmdization):
    """shard-partition: mesh-spmdization, as LLVM 22 names it.

    With `--mesh-version=22`.
    """


def _check_is_annotated(function: FuncOp) -> None:
    """Raises unless annotations define all tensor operands, and all tensors that are used are annotated."""
    values: list[Value] = list(function.entry.arguments)
    for op in function.entry.ops:
        if not isinstance(op, ShardOp | ShardingSource):
            values += op.results
            if not all(map(_is_valid_operand, op.operands)):
                raise _not_annotated_error(function)
    for value in values:
        uses = list(value.uses)
        if isinstance(value.type, RankedTensor) and uses and not _is_annotated(value):
            raise _not_annotated_error(function)


def _is_valid_operand(value: Value) -> bool:
    return not isinstance(value.type, RankedTensor) or isinstance(value.defining_op, ShardOp)


def _is_annotated(value: Value) -> bool:
    """Whether all users are annotations, and those without `annotate_for_users` are equivalent."""
    users = list(value.users)
    if not all(isinstance(user, ShardOp) for user in users):
        return False
    shardings = [
        user.mesh_sharding for user in users if isinstance(user, ShardOp) and not user.annotate_for_users
    ]
    return all(sharding.is_equivalent_to(shardings[0]) for sharding in shardings)


def _not_annotated_error(function: FuncOp) -> Exception:
    return function.op_error("is not fully annotated with shardings")


def _first_annotation_on(value: Value) -> ShardOp | None:
    """The first annotation of a value without `annotate_for_users`, or else the first annotation."""
    users = [user for user in value.users if isinstance(user, ShardOp)][::-1]
    return next((user for user in users if not user.annotate_for_users), users[0] if users else None)


def _sharding_of(value: Value) -> MeshSharding | None:
    """The sharding of a value at its definition."""
    annotation = _first_annotation_on(value)
    return None if annotation is None else annotation.mesh_sharding


class _Partitioner:
    """Builds the local body in a second block and erases the first."""

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
            local = self._local_type(argument.type, _sharding_of(argument), argument)
            self._values[argument] = rewriter.add_argument(self._new, local, argument.location)
        for op in self._old.ops:
            if isinstance(op, ShardOp):
                self._values[op.result] = self._reshard(op)
            elif isinstance(op, ShardingSource):
                self._clone_sharding(op)
            else:
                self._copy(op)
        rewriter.erase_block(self._old)
        inputs = tuple(argument.type for argument in self._new.arguments)
        last = self._new.last
        assert last is not None
        type = FunctionType(inputs, last.operand_types)
        rewriter.set_attribute(function, "function_type", TypeAttr(type))

    def _clone_sharding(self, op: ShardingSource) -> None:
        """Clones a sharding value that has users other than annotations and sharding queries."""
        if not all(isinstance(user, ShardOp | ShardingSource) for user in op.results[0].users):
            self._values[op.results[0]] = self._cloned_sharding(op)

    def _cloned_sharding(self, op: Op) -> Value:
        """A clone of a sharding value."""
        source = op
        while isinstance(source, GetShardingOp):
            _, sharding = source.annotation.operands
            if sharding.defining_op is None:
                raise source.error("expected a shard op as source of get_sharding")
            source = sharding.defining_op
        copy = self._rewriter.clone(source, dict(self._values))
        self._rewriter.insert(copy, at_end_of=self._new)
        return copy.results[0]

    def _local_type(self, type: Type, sharding: MeshSharding | None, value: Value) -> Type:
        if sharding is None or not isinstance(type, RankedTensor):
            return type
        annotation = _first_annotation_on(value)
        assert annotation is not None
        return local_type(type, sharding, annotation)

    def _reshard(self, op: ShardOp) -> Value:
        """The shard under an annotation."""
        shard, global_type = self._values[op.src], op.src.type
        producer = op.src.defining_op
        source = producer.mesh_sharding if isinstance(producer, ShardOp) else _sharding_of(op.src)
        assert isinstance(global_type, RankedTensor) and source is not None
        if op is _first_annotation_on(op.src) and not isinstance(producer, ShardOp):
            return shard
        return reshard(self._rewriter, shard, source, op.mesh_sharding, global_type, op, at_end_of=self._new)

    def _copy(self, op: Op) -> None:
        """Copies an operation, with local types if it is trivially shardable or a sharded reduction."""
        space = iteration_space_of(op)
        reduction_axes: Axes = ()
        if isinstance(op, MatmulOp | GenericOp | ReduceOp) and space is not None:
            reduction_axes = _operand_axes(op, space).reduction_axes
        sharding = _sharding_of(op.results[0]) if op.results else None
        if isinstance(op, EmptyOp) and sharding is not None and self._copy_empty(op, sharding):
            return
        _check_offsets(op, space)
        if reduction_axes and sharding is not None and space is not None:
            self._copy_reduction(op, space, reduction_axes, sharding)
            return
        copy = self._rewriter.clone(op, self._values)
        self._rewriter.insert(copy, at_end_of=self._new)
        # A clone has the signature of the original; this updates the operand types.
        self._rewriter.set_operands(copy, copy.operands)
        if space is not None and space.is_trivially_shardable:
            for old, new in zip(op.results, copy.results, strict=True):
                self._rewriter.set_type(new, self._local_type(old.type, _sharding_of(old), old))
            if not space.requires_iterators:
                self._complete_copy(op, copy, space)
            return
        if op.is_terminator or not self._is_sharded(op):
            return
        # If the copy is invalid, the verifier reports it.
        if signature_problem(copy.signature, plain_type) is None:
            raise op.op_error("can only be copied where its operands and results are fully replicated")

    def _copy_empty(self, op: EmptyOp, sharding: MeshSharding) -> bool:
        """Copies an empty tensor whose shards have sizes that depend on the device, if it is one."""
        annotation, type = _first_annotation_on(op.out), op.tensor_type
        local = self._local_type(type, sharding, op.out)
        assert annotation is not None and isinstance(local, RankedTensor)
        is_sharded = [bool(sharding.axes_of(dimension)) for dimension in range(type.rank)]
        if not any(
            size == DYNAMIC and is_split for size, is_split in zip(local.shape, is_sharded, strict=True)
        ):
            return False
        dialect, builder = mesh_dialect_of(op), IndexBuilder(self._rewriter, op.location, at_end_of=self._new)
        defining = annotation.operand_at(1).defining_op
        assert defining is not None
        value, sizes = self._cloned_sharding(defining), [self._values[size] for size in op.sizes]
        mesh_op = mesh_of(annotation, sharding)
        position = builder.query(ProcessMultiIndexOp, dialect, sharding.mesh, (), mesh_op.rank)
        shape = builder.shard_shape(dialect, type.shape, sizes, value, position)
        given = iter(sizes)
        local_sizes = []
        for dimension, size in enumerate(type.shape):
            global_size = next(given) if size == DYNAMIC else None
            if local.shape[dimension] == DYNAMIC:
                local_sizes.append(shape[dimension] if is_sharded[dimension] else global_size)
        self._values[op.out] = builder.create(EmptyOp, [s for s in local_sizes if s is not None], local)
        return True

    def _copy_reduction(self, op: Op, space: IterationSpace, axes: Axes, sharding: MeshSharding) -> None:
        """Copies a linalg operation whose reduction iterators are sharded along `axes`."""
        values = [self._values[value] for value in op.operands]
        element = values[-1].type
        assert isinstance(element, RankedTensor)
        neutral = neutral_element(op, element.element)
        if neutral is None:
            raise op.op_error("its reduction is sharded, but has no neutral element")
        values[-1] = init_on_first_device(
            self._rewriter,
            self._new,
            mesh_dialect_of(op),
            sharding.mesh,
            axes,
            values[-1],
            neutral,
            op.location,
        )
        copy = self._rewriter.clone(op, self._values)
        self._rewriter.insert(copy, at_end_of=self._new)
        self._rewriter.set_operands(copy, values)
        result = op.results[0]
        self._rewriter.set_type(copy.results[0], self._local_type(result.type, sharding, result))
        self._values[result] = self._all_reduce(copy.results[0], axes, space, sharding, op)

    def _complete_copy(self, op: Op, copy: Op, space: IterationSpace) -> None:
        """Checks that shardings are compatible, reduces partial results, and shards constant values."""
        if any(
            sharding is not None and sharding.partial_axes for sharding in map(_operand_sharding, op.operands)
        ):
            raise op.op_error(_INCOMPATIBLE)
        axes = _operand_axes(op, space)
        reduction_axes = axes.reduction_axes
        for result, copied, indexing_map in zip(op.results, copy.results, space.result_maps, strict=True):
            sharding = _sharding_of(result)
            if sharding is None:
                continue
            is_compatible = axes.add_sharding(sharding, indexing_map)
            if not is_compatible or not set(sharding.partial_axes) <= set(reduction_axes):
                raise op.op_error(_INCOMPATIBLE)
            self._values[result] = self._all_reduce(copied, reduction_axes, space, sharding, op)
        constant = copy.signature.attributes.get("value")
        if isinstance(constant, DenseElements):
            type = copy.result_types[0]
            assert isinstance(type, RankedTensor)
            # The elements of a quantized constant have their storage type.
            if type.shape != constant.type.shape:
                local = RankedTensor(type.shape, constant.type.element, type.encoding)
                self._rewriter.set_attribute(copy, "value", DenseElements(local, constant.data))

    def _all_reduce(
        self, value: Value, reduction_axes: Axes, space: IterationSpace, sharding: MeshSharding, op: Op
    ) -> Value:
        """The result reduced along the reduction axes that its sharding is not partial along."""
        axes = tuple(axis for axis in reduction_axes if axis not in sharding.partial_axes)
        if not axes:
            return value
        op_class = op_class_in(mesh_dialect_of(op), AllReduceOp)
        attributes = {
            op_class.mesh.name: sharding.mesh,
            op_class.mesh_axes.name: axes_attribute(axes),
            "reduction": op_class.reduction_class(space.reduction_kind),
        }
        all_reduce = self._rewriter.create(
            op_class, [value], [value.type], attributes, at_end_of=self._new, location=op.location
        )
        return all_reduce.results[0]

    def _is_sharded(self, op: Op) -> bool:
        shardings = [_sharding_of(result) for result in op.results]
        for value in op.operands:
            annotation = value.defining_op
            if isinstance(annotation, ShardOp):
                shardings.append(annotation.mesh_sharding)
        return any(sharding is not None and not sharding.is_replicated for sharding in shardings)


def _operand_sharding(value: Value) -> MeshSharding | None:
    annotation = value.defining_op
    return annotation.mesh_sharding if isinstance(annotation, ShardOp) else None


def _check_offsets(op: Op, space: IterationSpace | None) -> None:
    """Raises for shards of different sizes, unless the operation is elementwise and they are all alike."""
    shardings = [*map(_operand_sharding, op.operands), *map(_sharding_of, op.results)]
    if not any(sharding is not None and sharding.offsets for sharding in shardings) or op.is_terminator:
        return
    given = [sharding for sharding in shardings if sharding is not None]
    is_alike = all(sharding.is_equivalent_to(given[0]) for sharding in given)
    if not is_alike or not op.operands or space is None or space.reduction_iterators:
        raise op.op_error("sharded dims offsets are not supported here")


def _operand_axes(op: Op, space: IterationSpace) -> IteratorAxes:
    """The iterator axes that the operand shardings assign; an error if they conflict."""
    axes = IteratorAxes(space)
    for value, indexing_map in zip(op.operands, space.operand_maps, strict=True):
        sharding = _operand_sharding(value)
        if sharding is not None and not axes.add_sharding(sharding, indexing_map):
            raise op.op_error(_INCOMPATIBLE)
    return axes
