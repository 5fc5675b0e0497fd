"""The rule of an operation: cached per signature, or per signature and context."""

import pytest

from sdyopt.base.diagnostics.diagnostic import Diagnostic, handling, separate_run
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.stablehlo.elementwise import SineOp
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp, SliceOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT, DictAttr, dictionary
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import UNKNOWN, Op, UnregisteredOp, build
from sdyopt.mlir.ir.types import F32, I64, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import OpShardingRuleBuilder, sharding_rule
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

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


def test_operations_of_one_signature_share_their_rule() -> None:
    rule = sharding_rule_of(sine())
    assert rule is not None
    assert sharding_rule_of(sine()) is rule


def test_a_custom_rule_takes_precedence() -> None:
    mapping = TensorMapping((DimMapping((0,)),))
    custom = OpShardingRule((8,), (mapping,), (mapping,), need_replication=(0,))
    assert sharding_rule_of(sine(dictionary({SHARDING_RULE: custom}))) is custom


def test_a_rule_may_depend_on_a_context() -> None:
    plain, slices = concatenation(argument(), argument()), concatenation(sliced(), sliced())
    assert plain.signature is slices.signature
    rules = [sharding_rule_of(op) for op in (plain, slices, plain)]
    assert [rule and (rule.need_replication, rule.permutation) for rule in rules] == [
        ((0,), ()),
        ((), (0,)),
        ((0,), ()),
    ]


def test_conservative_rules_are_cached_separately() -> None:
    op = concatenation(argument(), argument())
    default, conservative = sharding_rule_of(op), sharding_rule_of(op, is_conservative=True)
    assert default is not None and default.factor_sizes == (16,)
    assert conservative is not None and conservative.factor_sizes == (1, 1, 1)


def test_unknown_operations_get_one_warning_per_run() -> None:
    signature = OpSignature(UnregisteredOp, "toy.unknown", EMPTY_DICT, (VECTOR,), (VECTOR,))
    op, diagnostics = build(signature, [argument()]), list[Diagnostic]()
    with handling(diagnostics.append):
        for _ in range(2):
            with separate_run():
                assert sharding_rule_of(op) is None
                assert sharding_rule_of(op) is None
    assert [diagnostic.message for diagnostic in diagnostics] == [
        "op 'toy.unknown' is unknown to SDY sharding rule registry"
    ] * 2


def test_a_second_rule_for_a_class_is_an_error() -> None:
    sharding_rule_of(sine())
    with pytest.raises(AssertionError, match=r"stablehlo\.sine has two sharding rules"):

        @sharding_rule(SineOp)
        def again(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
            """Never registered."""
