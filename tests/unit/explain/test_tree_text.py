"""Trees of sentences as text, and the annotation that one names."""

import sdyopt
from sdyopt.analysis.explain.arrival_text import Sentence, _before_derived, tree_text
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp


def test_children_hang_below_their_sentence() -> None:
    root = Sentence("a value", "model.py:1")
    first = root.add("the first reason")
    first.add("what to write")
    root.add("the second reason", "model.py:2")
    assert tree_text(root, 80) == (
        "a value  model.py:1\n├─ the first reason\n│  └─ what to write\n└─ the second reason  model.py:2\n"
    )


def test_long_sentences_are_wrapped_beside_the_bar_of_what_follows() -> None:
    root = Sentence("a value")
    root.add("a reason that takes more columns than there are", "model.py:1").add("help: write less")
    root.add("end")
    assert tree_text(root, 36) == (
        "a value\n"
        "├─ a reason that takes more columns\n"
        "│  │  than there are  model.py:1\n"
        "│  └─ help: write less\n"
        "└─ end\n"
    )


def test_control_characters_of_the_input_are_escaped() -> None:
    assert tree_text(Sentence("axis \x1b[31m\nred"), 80) == "axis \\x1b[31m\\nred\n"


def test_continued_lines_are_no_wider_than_the_terminal() -> None:
    root = Sentence("root")
    root.add("tried: " + "ab " * 30).add("child")
    root.add("last")
    lines = tree_text(root, 40).splitlines()
    assert lines[:2] == ["root", "├─ tried: ab ab ab ab ab ab ab ab ab ab"]
    assert max(map(len, lines)) <= 40
    assert all(line.startswith("│  │  ab") for line in lines[2:4])


# w.T @ a.T: the axis of the second dimension is that of the rows of a, not of those of w, which are summed.
_PRODUCT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<6x8xf32> {
  %0 = stablehlo.dot_general %w, %a, contracting_dims = [0] x [1]
      : (tensor<4x6xf32>, tensor<8x4xf32>) -> tensor<6x8xf32> loc(#product)
  %1 = stablehlo.negate %0 : tensor<6x8xf32> loc(#product)
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"x"}]> : tensor<6x8xf32> loc(#product)
  return %2 : tensor<6x8xf32>
}
#product = loc("jit(step)/mul"("layer"("model.py":6:5)))
"""


def test_an_axis_comes_from_the_dimension_that_it_is_in() -> None:
    module = sdyopt.parse(_PRODUCT).ir
    constraint = next(op for op in module.walk() if isinstance(op, ShardingConstraintOp))
    origin = _before_derived(constraint, AxisRef("x"))
    assert origin is not None and origin.number == 1
