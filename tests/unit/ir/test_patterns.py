"""The greedy rewrite driver: folding, patterns, constant merging, dead code elimination."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import GreedyOptions, Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32

from .toy import add, constant, negate, scope, use


def _all(op_class: type[Op]) -> Sequence[Pattern]:
    return op_class.canonicalizations


def test_dead_operations_are_erased() -> None:
    rewriter, (root, block) = Rewriter(), scope()
    one = constant(rewriter, block, integer(1, I32))
    negate(rewriter, block, one.result)
    assert apply_greedily(root, _all) == (True, True)
    assert list(block.ops) == []


def test_patterns_are_applied() -> None:
    rewriter, (root, block) = Rewriter(), scope()
    one = constant(rewriter, block, integer(1, I32)).result
    user = use(rewriter, block, negate(rewriter, block, negate(rewriter, block, one).result).result)
    apply_greedily(root, _all)
    assert user.operands == [one]


def test_equal_constants_are_merged_and_hoisted() -> None:
    rewriter, (root, block) = Rewriter(), scope()
    use(rewriter, block, rewriter.add_argument(block, I32))
    first = constant(rewriter, block, integer(1, I32))
    use(rewriter, block, first.result)
    second = constant(rewriter, block, integer(1, I32))
    user = use(rewriter, block, second.result)
    apply_greedily(root, _all)
    assert user.operands == [first.result]
    assert block.first is first


def test_constant_operands_of_commutative_operations_move_right() -> None:
    rewriter, (root, block) = Rewriter(), scope()
    argument = rewriter.add_argument(block, I32)
    one = constant(rewriter, block, integer(1, I32)).result
    total = add(rewriter, block, one, argument)
    use(rewriter, block, total.result)
    apply_greedily(root, _all)
    assert total.operands == [argument, one]


def test_a_fixed_point_is_no_change() -> None:
    rewriter, (root, block) = Rewriter(), scope()
    use(rewriter, block, constant(rewriter, block, integer(1, I32)).result)
    assert apply_greedily(root, _all) == (False, True)


def test_max_rewrites_limits_the_number_of_rewrites() -> None:
    rewriter, (root, block) = Rewriter(), scope()
    value = constant(rewriter, block, integer(1, I32)).result
    for _ in range(8):
        value = negate(rewriter, block, value).result
    use(rewriter, block, value)
    apply_greedily(root, _all, GreedyOptions(max_iterations=1, max_rewrites=1))
    assert sum(op.name == "toy.negate" for op in block.ops) == 6


@pytest.mark.parametrize(
    ("max_iterations", "limit"),
    [(10, "10 iterations"), (-1, "10 iterations"), (3, "3 iterations"), (1, "1 iteration$")],
)
def test_rewrites_without_end_are_an_error(max_iterations: int, limit: str) -> None:
    rewriter, (root, block) = Rewriter(), scope()
    argument = rewriter.add_argument(block, I32)
    use(rewriter, block, negate(rewriter, block, argument).result)

    def again(op: Op, rewriter: Rewriter) -> bool:
        rewriter.replace(op, rewriter.create(type(op), op.operands, [I32], before=op).results)
        return True

    def patterns(op_class: type[Op]) -> Sequence[Pattern]:
        return [Pattern(again, "again")] if op_class.name == "toy.negate" else ()

    with pytest.raises(DiagnosticError, match=rf"pattern 'again' still matches 'toy\.negate' after {limit}"):
        apply_greedily(root, patterns, GreedyOptions(max_iterations=max_iterations))
