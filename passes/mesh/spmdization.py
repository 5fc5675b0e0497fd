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

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.mesh.local import local_type
from sdyopt.dialects.mesh.shard_op import ShardOp
from sdyopt.dialects.mesh.sharding import MeshSharding
from sdyopt.ir.attribute import TypeAttr
from sdyopt.ir.block import Block
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import FunctionType, RankedTensor, Type
from sdyopt.ir.value import Value
from sdyopt.ir.verify_form import form_problem
from sdyopt.pipeline import FUNCTION, Pass
from sdyopt.registry import register
from sdyopt.syntax.spell import plain_type

from .loops import loops_of
from .resharding import reshard

_ONE_BLOCK = "only one block is supported!"


@register("mesh-spmdization")
class Spmdization(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        if function.is_declaration:
            return False
        if len(function.body.blocks) > 1:
            raise function.op_error(_ONE_BLOCK)
        _check_is_annotated(function)
        rewriter = Rewriter()
        _Partition(function, rewriter).run()
        return rewriter.changed


def _check_is_annotated(function: FuncOp) -> None:
    """Every tensor has one annotation by which it is made, and is used through annotations."""
    values: list[Value] = list(function.entry.arguments)
    for op in function.entry.ops:
        if not isinstance(op, ShardOp):
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
    return value.has_one_use and isinstance(next(value.users), ShardOp)


def _not_annotated(function: FuncOp) -> Exception:
    return function.op_error("is not fully annotated with shardings")


def _layout_of(value: Value) -> MeshSharding | None:
    """The sharding by which a value is made."""
    user = next(value.users, None)
    return user.layout if isinstance(user, ShardOp) else None


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
            else:
                self._copy(op)
        rewriter.erase_block(self._old)
        inputs = tuple(argument.type for argument in self._new.arguments)
        last = self._new.last
        assert last is not None
        type = FunctionType(inputs, last.operand_types)
        rewriter.set_attribute(function, "function_type", TypeAttr(type))

    def _local(self, type: Type, layout: MeshSharding | None, value: Value) -> Type:
        if layout is None or not isinstance(type, RankedTensor):
            return type
        return local_type(type, layout, next(value.users))

    def _annotated(self, op: ShardOp) -> Value:
        value = self._values[op.src]
        source = op.src.defining_op
        if not isinstance(source, ShardOp):
            return value
        whole = op.src.type
        assert isinstance(whole, RankedTensor)
        return reshard(self._rewriter, value, source.layout, op.layout, whole, op, at_end_of=self._new)

    def _copy(self, op: Op) -> None:
        """The operation on shards."""
        copy = self._rewriter.clone(op, self._values)
        self._rewriter.insert(copy, at_end_of=self._new)
        # The form of a copy is that of the original; its operands have other types.
        self._rewriter.set_operands(copy, copy.operands)
        loops = loops_of(op)
        if loops is not None and loops.is_local:
            for old, new in zip(op.results, copy.results, strict=True):
                layout = _layout_of(old)
                self._rewriter.set_type(new, self._local(old.type, layout, old))
            return
        if not op.is_terminator and self._is_split(op) and form_problem(copy.form, plain_type) is None:
            raise op.op_error("can only be copied where its operands and results are fully replicated")

    def _is_split(self, op: Op) -> bool:
        layouts = [_layout_of(result) for result in op.results]
        for value in op.operands:
            annotation = value.defining_op
            if isinstance(annotation, ShardOp):
                layouts.append(annotation.layout)
        return any(layout is not None and not layout.is_replicated for layout in layouts)
