"""The names of arguments and results as JAX gives them, and the trees that they are leaves of."""

import pytest

import sdyopt
from sdyopt.mlir.ir.symbols import FunctionOpInterface
from sdyopt.mlir.ir.value import BlockArgument
from sdyopt.mlir.value_names import (
    argument_text,
    argument_trees,
    find_named,
    grouped_names,
    name_of,
    path_parts,
    pattern_of,
    result_text,
    similar_names,
    tree_of,
    tree_of_values,
)

PROGRAM = """
func.func private @declared(tensor<4xf32>, tensor<4xf32>)
func.func @loss(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @main(%w: tensor<4x8xf32> loc("params['up']['w']"), %b: tensor<8xf32> loc("params['up']['b']"),
    %v: tensor<8x4xf32> loc("params['down'][0]"), %x: tensor<4x4xf32> {jax.arg_info = "x"},
    %n: tensor<4xf32> loc("model.py":3:5))
    -> (tensor<4x4xf32> {jax.result_info = "result[0]"}, tensor<4xf32>) {
  return %x, %n : tensor<4x4xf32>, tensor<4xf32>
}
"""
UP, TREE = "params['up']", ["params['up']['w']", "params['up']['b']", "params['down'][0]"]


def _main() -> tuple[sdyopt.Module, FunctionOpInterface]:
    module = sdyopt.parse(PROGRAM)
    _, _, main = (op for op in module.ir.walk() if isinstance(op, FunctionOpInterface))
    return module, main


def test_names_are_those_of_jax() -> None:
    _, main = _main()
    assert [argument_text(main, index) for index in range(5)] == [*TREE, "x", "argument 4 of @main"]
    assert [result_text(main, index) for index in range(2)] == ["result[0]", "result 1 of @main"]


def test_a_tree_has_the_arguments_below_it() -> None:
    _, main = _main()
    trees = {name: [name_of(leaf) for leaf in leaves] for name, leaves in argument_trees(main).items()}
    assert trees == {"params": TREE, UP: TREE[:2]}


@pytest.mark.parametrize(
    ("numbers", "tree"),
    [
        # Arguments by their numbers: the tree of values of their shapes, in this order.
        ([0, 1, 2], ("params", TREE)),
        ([0, 1], (UP, TREE[:2])),
        ([0, 1, 0, 1], (UP, [*TREE[:2], *TREE[:2]])),
        ([1, 0], None),
        ([0, 1, 0], None),
        ([0], None),
        ([], None),
    ],
)
def test_values_are_of_the_tree_with_their_shapes(
    numbers: list[int], tree: tuple[str, list[str]] | None
) -> None:
    module, main = _main()
    entry = main.regions[0].entry
    assert entry is not None
    found = tree_of_values(module.ir, [entry.arguments[number] for number in numbers])
    named = None if found is None else (found[0], [name_of(leaf) for leaf in found[1]])
    assert named == tree


def test_parts_of_names() -> None:
    assert path_parts("params['layers'][12].w") == ("['layers']", "[12]", ".w")
    assert pattern_of("params['layers'][12].w") == "params['layers'][*].w"
    assert [tree_of(name) for name in ("state['nu'][0]['w']", "params['w']", "x")] == [
        "state['nu']",
        "params",
        "x",
    ]


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["a[0]['w']", "a[1]['w']", "a[1]['w']", "", "a[0]['b']"], ["a[*]['w']", "a[0]['b']"]),
        # As many groups as four have the part that they begin with.
        ([f"s.nu['{key}']" for key in "abcd"], ["s.nu, 4 leaves"]),
        ([f"s.nu['{key}']" for key in "abc"], ["s.nu['a']", "s.nu['b']", "s.nu['c']"]),
        (["s['a']", "s['b']", "t['c']", "t['d']"], ["s['a']", "s['b']", "t['c']", "t['d']"]),
    ],
)
def test_many_names_are_given_by_what_they_have_in_common(names: list[str], groups: list[str]) -> None:
    assert grouped_names(names) == groups


def test_a_name_may_be_a_pattern_and_similar_ones_have_its_key() -> None:
    module, _ = _main()
    (found,) = find_named(module.ir, 'params["down"][*]')
    assert isinstance(found, BlockArgument) and found.index == 2
    assert similar_names(module.ir, UP) == TREE[:2]
    assert similar_names(module.ir, "other['w']") == TREE[:1]
    assert similar_names(module.ir, "nothing") == [TREE[0], "x", "result[0]"]
