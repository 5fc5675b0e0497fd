"""Finding the rule of an operation: once per form, or per what is seen around it."""

import pytest

from sdyopt.diagnostics.diagnostic import Diagnostic, handling
from sdyopt.diagnostics.once import separate_run
from sdyopt.dialects.sdy.attribute_names import SHARDING_RULE
from sdyopt.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.dialects.stablehlo.concatenate_pad import ConcatenateOp
from sdyopt.dialects.stablehlo.slicing import SliceOp
from sdyopt.dialects.stablehlo.unary import SineOp
from sdyopt.ir.attribute import EMPTY_DICT, DictAttr, dictionary
from sdyopt.ir.block import Block
from sdyopt.ir.numeric_attributes import IntegerAttr
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import UNKNOWN, Op, UnregisteredOp, build
from sdyopt.ir.types import F32, I64, tensor
from sdyopt.ir.value import Value
from sdyopt.sharding.op_sharding_rule_builder import OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule, sharding_rule_of

VECTOR = tensor((8,), F32)


def argument() -> Value:
    block = Block()
    return block.add_argument(VECTOR, UNKNOWN)


def sine(attributes: DictAttr = EMPTY_DICT) -> Op:
    signature = OpSignature(SineOp, SineOp.name, EMPTY_DICT, (VECTOR,), (VECTOR,))
    return build(signature, [argument()], attributes)


def concatenation(*values: Value) -> Op:
    attributes = dictionary({"dimension": IntegerAttr(0, I64)})
    signature = OpSignature(
        ConcatenateOp, ConcatenateOp.name, attributes, (VECTOR, VECTOR), (tensor((16,), F32),)
    )
    return build(signature, values)


def sliced() -> Value:
    signature = OpSignature(SliceOp, SliceOp.name, EMPTY_DICT, (VECTOR,), (VECTOR,))
    return build(signature, [argument()]).result


def test_equal_forms_share_their_rule() -> None:
    rule = sharding_rule_of(sine())
    assert rule is not None
    assert sharding_rule_of(sine()) is rule


def test_a_written_rule_wins() -> None:
    mapping = TensorMapping((DimMapping((0,)),))
    written = OpShardingRule((8,), (mapping,), (mapping,), need_replication=(0,))
    assert sharding_rule_of(sine(dictionary({SHARDING_RULE: written}))) is written


def test_what_is_seen_around_decides() -> None:
    plain, slices = concatenation(argument(), argument()), concatenation(sliced(), sliced())
    assert plain.signature is slices.signature
    rules = [sharding_rule_of(op) for op in (plain, slices, plain)]
    assert [rule and (rule.need_replication, rule.permutation) for rule in rules] == [
        ((0,), ()),
        ((), (0,)),
        ((0,), ()),
    ]


def test_conservative_rules_are_others() -> None:
    op = concatenation(argument(), argument())
    usual, conservative = sharding_rule_of(op), sharding_rule_of(op, conservative=True)
    assert usual is not None and usual.factor_sizes == (16,)
    assert conservative is not None and conservative.factor_sizes == (1, 1, 1)


def test_warns_once_in_a_run() -> None:
    signature = OpSignature(UnregisteredOp, "toy.unknown", EMPTY_DICT, (VECTOR,), (VECTOR,))
    op, told = build(signature, [argument()]), list[Diagnostic]()
    with handling(told.append):
        for _ in range(2):
            with separate_run():
                assert sharding_rule_of(op) is None
                assert sharding_rule_of(op) is None
    assert [diagnostic.message for diagnostic in told] == [
        "op 'toy.unknown' is unknown to SDY sharding rule registry"
    ] * 2


def test_two_rules_for_one_class_are_refused() -> None:
    sharding_rule_of(sine())
    with pytest.raises(AssertionError, match=r"stablehlo\.sine has two sharding rules"):

        @sharding_rule(SineOp)
        def again(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
            """Never registered."""
