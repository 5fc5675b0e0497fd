"""The rewriter maintains uses, signatures and operation order."""

from __future__ import annotations

import gc
from collections.abc import Sequence

from sdyopt.mlir.ir.attribute import UNIT
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.cse import fold
from sdyopt.mlir.ir.edit_log import recording
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32, I64
from sdyopt.mlir.ir.value import Value

from .toy import EndOp, LoopOp, add, constant, negate, scope, use


def test_uses_are_visited_most_recent_first() -> None:
    rewriter, (_, block) = Rewriter(), scope()
    one = constant(rewriter, block, integer(1, I32)).result
    first, second = use(rewriter, block, one), use(rewriter, block, one)
    assert list(one.users) == [second, first]


def test_replacing_reverses_the_order_of_uses() -> None:
    rewriter, (_, block) = Rewriter(), scope()
    one = constant(rewriter, block, integer(1, I32))
    two = constant(rewriter, block, integer(2, I32))
    first, second = use(rewriter, block, one.result), use(rewriter, block, one.result)
    rewriter.replace(one, two)
    assert list(two.result.users) == [first, second]
    assert one.parent is None


def test_refreshed_uses_come_first() -> None:
    rewriter, (_, block) = Rewriter(), scope()
    one = constant(rewriter, block, integer(1, I32)).result
    first, second, third = (use(rewriter, block, one) for _ in range(3))
    rewriter.refresh_uses(second)
    assert list(one.users) == [second, third, first]
    rewriter.refresh_uses(second)
    rewriter.refresh_uses(first)
    assert list(one.users) == [first, second, third]


def test_set_type_updates_the_signatures_of_owner_and_users() -> None:
    rewriter, (_, block) = Rewriter(), scope()
    one = constant(rewriter, block, integer(1, I32))
    user = use(rewriter, block, one.result)
    rewriter.set_type(one.result, I64)
    assert one.result_types == (I64,)
    assert user.operand_types == (I64,)


def test_inherent_attributes_are_in_the_signature_and_others_are_not() -> None:
    rewriter, (_, block) = Rewriter(), scope()
    one = constant(rewriter, block, integer(1, I32))
    signature = one.signature
    rewriter.set_attribute(one, "my.note", UNIT)
    assert one.signature is signature and one.attributes.get("my.note") is UNIT
    rewriter.set_attribute(one, "value", integer(2, I32))
    assert one.signature is not signature and one.attribute("value") is integer(2, I32)


def test_changed_is_set_by_edits_only() -> None:
    setup, (_, block) = Rewriter(), scope()
    one = constant(setup, block, integer(1, I32))
    rewriter = Rewriter()
    rewriter.set_attribute(one, "value", integer(1, I32))
    rewriter.remove_attribute(one, "my.note")
    assert not rewriter.changed
    rewriter.set_attribute(one, "value", integer(2, I32))
    assert rewriter.changed


def test_is_before_holds_after_an_operation_is_moved_in_between() -> None:
    rewriter, (_, block) = Rewriter(), scope()
    one = constant(rewriter, block, integer(1, I32))
    last = use(rewriter, block, one.result)
    assert one.is_before(last)
    middle = negate(rewriter, block, one.result)
    rewriter.move(middle, before=last)
    assert one.is_before(middle) and middle.is_before(last)


def test_a_clone_uses_its_own_nested_values() -> None:
    rewriter, (_, block) = Rewriter(), scope()
    outside = constant(rewriter, block, integer(1, I32)).result
    loop = rewriter.create(LoopOp, at_end_of=block, regions=[_region_with_sum(rewriter, outside)])
    copy = rewriter.clone(loop)
    inner, total = copy.regions[0].blocks[0].ops
    assert total.operands == [inner.result, outside]
    assert inner.parent_op is copy


def _region_with_sum(rewriter: Rewriter, outside: Value) -> Region:
    region = Region()
    block = region.add_block()
    inner = constant(rewriter, block, integer(2, I32))
    add(rewriter, block, inner.result, outside)
    return region


class _Listener:
    """Records the erased operations in order."""

    def __init__(self) -> None:
        self.erased_ops: list[Op] = []

    def erased(self, op: Op) -> None:
        self.erased_ops.append(op)

    def inserted(self, op: Op) -> None:
        pass

    def modified(self, op: Op) -> None:
        pass

    def replaced(self, op: Op, values: Sequence[Value]) -> None:
        pass


def test_users_are_erased_before_definitions() -> None:
    listener, (_, block) = _Listener(), scope()
    rewriter = Rewriter(listener)
    body = Region()
    inner = body.add_block()
    one = constant(rewriter, inner, integer(1, I32))
    minus_one = negate(rewriter, inner, one.result)
    user = use(rewriter, inner, minus_one.result)
    loop = rewriter.create(LoopOp, at_end_of=block, regions=[body])
    rewriter.erase(loop)
    assert listener.erased_ops == [user, minus_one, one, loop]


def test_released_operations_are_freed_without_garbage_collection() -> None:
    rewriter, (_, block) = Rewriter(), scope()
    gc.collect()
    gc.disable()
    try:
        with recording() as edits:
            rewriter = Rewriter()
            body = Region()
            inner = body.add_block()
            use(rewriter, inner, constant(rewriter, inner, integer(1, I32)).result)
            rewriter.erase(rewriter.create(LoopOp, at_end_of=block, regions=[body]))
        assert any(isinstance(each, LoopOp) for each in gc.get_objects())
        edits.release_erased()
        del body, inner
        assert not any(isinstance(each, LoopOp) for each in gc.get_objects())
        assert not gc.collect()
    finally:
        gc.enable()


def test_folding_in_place_is_recorded() -> None:
    setup, (_, block) = Rewriter(), scope()
    one = constant(setup, block, integer(1, I32)).result
    other = negate(setup, block, one).result
    commutative = add(setup, block, one, other)
    rewriter = Rewriter()
    assert fold(commutative, rewriter) == []
    assert commutative.operands == [other, one]
    assert rewriter.changed


def test_inserting_blocks_is_recorded() -> None:
    outer, block = scope()
    rewriter = Rewriter()
    blocks = [Block(), Block()]
    rewriter.insert_blocks(blocks, after=block)
    assert outer.regions[0].blocks == [block, *blocks]
    assert all(inserted.parent is outer.regions[0] for inserted in blocks)
    assert rewriter.changed


def test_uses_of_blocks_are_counted() -> None:
    rewriter, (outer, first) = Rewriter(), scope()
    second, third = Block(), Block()
    rewriter.insert_blocks([second, third], after=first)
    branch = rewriter.create(EndOp, at_end_of=first, successors=[second, third])
    rewriter.create(EndOp, at_end_of=second, successors=[third])
    assert (second.uses, third.uses) == (1, 2)

    mapping: dict[Value, Value] = {}
    copy = rewriter.clone(outer, mapping)
    assert [block.uses for block in copy.regions[0].blocks] == [0, 1, 2]
    assert (second.uses, third.uses) == (1, 2)

    rewriter.redirect([third], second)
    assert (second.uses, third.uses) == (3, 0)
    rewriter.erase(branch)
    assert (second.uses, third.uses) == (1, 0)
