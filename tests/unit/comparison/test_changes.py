"""Programs with one change: the change comes first, and nothing else is reported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sdyopt
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import FunctionOpInterface

ROOT = Path(__file__).parents[3]
PIPELINE = "sdy-propagation-pipeline"


def text_of(name: str) -> str:
    return (ROOT / "examples" / name).read_text(encoding="utf-8")


def renamed(text: str) -> str:
    """The program with its functions in another order, private ones with other names, and on other lines."""
    module = sdyopt.parse(text).clone()
    functions = [op for op in module.ir.block.ops if isinstance(op, FunctionOpInterface)]
    rewriter = Rewriter()
    for function in functions[:-1]:
        rewriter.move(function, after=functions[-1])
    text = "\n\n" + module.as_text(debug_info=True)
    for number, name in enumerate(re.findall(r"func\.func private @([\w.$-]+)", text)):
        text = re.sub(rf"@{re.escape(name)}(?![\w.$-])", f"@other_{number}", text)
    return text


@pytest.mark.parametrize("name", ["first.mlir", "mlp.mlir", "transformer_train.mlir"])
def test_names_order_and_lines_make_no_difference(name: str) -> None:
    text = text_of(name)
    other = renamed(text)
    assert other != text
    comparison = sdyopt.parse(other).compare_with(sdyopt.parse(text), PIPELINE)
    assert comparison.is_empty, str(comparison)


# Program, the text of an annotation, the new one, and the label of the value.
CHANGES = [
    ("first.mlir", '[{"data"}, {?}]', '[{?}, {"data"}]', ""),
    ("mlp.mlir", '[{}, {"model"}]>} loc("weights[0]")', '[{}, {}]>} loc("weights[0]")', "weights[0]"),
    ("mlp.mlir", '[{"data"}, {}]>} loc("x")', '[{"data", "model"}, {}]>} loc("x")', "x"),
    (
        "transformer_train.mlir",
        """[{}, {"model"}]>} loc("weights['layers'][0]['up']")""",
        """[{"data"}, {}]>} loc("weights['layers'][0]['up']")""",
        "weights['layers'][0]['up']",
    ),
    (
        "transformer_train.mlir",
        """[{"model"}, {}]>} loc("weights['embedding']")""",
        """[{}, {"model"}]>} loc("weights['embedding']")""",
        "weights['embedding']",
    ),
]


@pytest.mark.parametrize(("name", "old", "new", "label"), CHANGES)
def test_a_changed_annotation_comes_first(name: str, old: str, new: str, label: str) -> None:
    text = text_of(name)
    assert text.count(old) == 1
    comparison = sdyopt.parse(text.replace(old, new)).compare_with(sdyopt.parse(text), PIPELINE)
    [annotation] = comparison.annotations
    assert annotation.label == label
    assert comparison.shardings[0] == annotation or label == ""
    data = comparison.to_dict()
    assert (data["only_before"], data["only_after"], data["retyped"]) == ([], [], 0)


def test_an_inserted_operation_and_a_constraint() -> None:
    """The operations after them correspond to those of the other program."""
    text = text_of("first.mlir")
    end = "  %z = sdy"
    inserted = text.replace(end, "  %y2 = stablehlo.tanh %y : tensor<8x32xf32>\n" + end).replace(
        "t %y ", "t %y2 "
    )
    data = sdyopt.parse(inserted).compare_with(sdyopt.parse(text)).to_dict()
    assert [value["operation"] for value in data["only_after"]] == ["stablehlo.tanh"]
    assert (data["only_before"], data["annotations"], data["shardings"]) == ([], [], [])
    back = sdyopt.parse(text).compare_with(sdyopt.parse(inserted)).to_dict()
    assert back["only_before"] == data["only_after"]


def test_a_batch_size_that_changes_all_types() -> None:
    text = text_of("first.mlir")
    larger = text.replace("tensor<8x", "tensor<16x")
    data = sdyopt.parse(larger).compare_with(sdyopt.parse(text), PIPELINE).to_dict()
    assert (data["only_before"], data["only_after"], data["shardings"]) == ([], [], [])
    assert data["retyped"] == 3


def test_an_added_constraint_is_an_annotation() -> None:
    """In the program before the passes, which replace it by a reshard."""
    text = text_of("first.mlir")
    added = text.replace(
        "  return %z", "  %c = sdy.sharding_constraint %z <@mesh, [{}, {}]> : tensor<8x32xf32>\n  return %c"
    )
    comparison = sdyopt.parse(added).compare_with(sdyopt.parse(text), PIPELINE)
    [annotation] = comparison.annotations
    assert (annotation.before, annotation.after) == (None, "<@mesh, [{}, {}]>")
    assert "absent → P()" in str(comparison)


def test_a_function_that_two_calls_share_and_its_copies() -> None:
    """A pass may give each call a function of its own: the values of both correspond to those of one."""
    shared = """
        func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
          %0 = func.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
          %1 = func.call @{other}(%b) : (tensor<8xf32>) -> tensor<8xf32>
          %2 = stablehlo.add %0, %1 : tensor<8xf32>
          return %2 : tensor<8xf32>
        }
        """
    body = """
        func.func private @{name}(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = stablehlo.tanh %a : tensor<8xf32>
          return %0 : tensor<8xf32>
        }
        """

    def function(name: str) -> str:
        return body.replace("{name}", name)

    one = sdyopt.parse(shared.replace("{other}", "f") + function("f"))
    two = sdyopt.parse(shared.replace("{other}", "f_0") + function("f") + function("f_0"))
    for before, after in ((one, two), (two, one)):
        data = after.compare_with(before).to_dict()
        assert (data["only_before"], data["only_after"], data["shardings"]) == ([], [], [])
