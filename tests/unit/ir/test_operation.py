"""Operation classes have slots only: operations are small, and a mistyped Python attribute is an error.

Operations of a class are found at any depth.
"""

from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32
from sdyopt.mlir.registry import all_dialects, find_dialect

from .toy import ConstantOp, LoopOp, constant, scope


def test_operations_have_slots_only() -> None:
    dialects = [dialect for name in all_dialects() if (dialect := find_dialect(name)) is not None]
    classes = {base for dialect in dialects for op_class in dialect.ops.values() for base in op_class.__mro__}
    assert sorted(cls.__qualname__ for cls in classes if "__dict__" in vars(cls)) == []


def test_nested_operations_of_a_class_are_found_in_post_order() -> None:
    rewriter, (root, block) = Rewriter(), scope()
    first = constant(rewriter, block, integer(1, I32))
    body = Region()
    inner = constant(rewriter, body.add_block(), integer(2, I32))
    loop = rewriter.create(LoopOp, at_end_of=block, regions=[body])
    assert root.nested(ConstantOp) == [first, inner]
    assert root.nested(LoopOp, ConstantOp) == [first, inner, loop]
    assert root.nested(Op) == [first, inner, loop]


def test_a_class_without_operations_is_found_nowhere() -> None:
    class NeverBuiltOp(ConstantOp):
        """No operation of this class exists; those of its base class are not of it."""

    rewriter, (root, block) = Rewriter(), scope()
    constant(rewriter, block, integer(1, I32))
    assert root.nested(NeverBuiltOp) == []
