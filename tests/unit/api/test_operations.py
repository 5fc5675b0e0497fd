"""Views of operations, blocks, values, types and attributes."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isnan
from typing import Any

import pytest

import sdyopt
from tests.unit.api.programs import LAYER


@pytest.fixture(scope="module")
def module() -> sdyopt.Module:
    return sdyopt.parse(LAYER)


@pytest.fixture(scope="module")
def dot(module: sdyopt.Module) -> sdyopt.Operation:
    [dot] = [op for op in module.walk() if op.name == "stablehlo.dot_general"]
    return dot


def test_operations_are_walked_in_the_order_of_the_text(module: sdyopt.Module) -> None:
    names = ["builtin.module", "sdy.mesh", "func.func", "stablehlo.dot_general", "func.return"]
    assert [op.name for op in module.walk()] == names
    assert [op.name for op in module.operations] == ["sdy.mesh", "func.func"]
    assert [op.name for op in module.functions["layer"].walk()] == names[2:]


def test_an_operation_has_operands_results_and_a_text(dot: sdyopt.Operation) -> None:
    assert dot.dialect == "stablehlo"
    assert [str(value) for value in dot.operands] == ["%arg0: tensor<8x16xf32>", "%arg1: tensor<16x32xf32>"]
    [result] = dot.results
    assert (result.name, result.index, result.is_argument) == ("%0", 0, False)
    assert result.owner == dot
    assert [user.name for user in result.users] == ["func.return"]
    assert str(dot) == (
        "%0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]"
        " : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>"
    )
    assert repr(dot) == "<stablehlo.dot_general>"


def test_a_function_has_arguments_and_results(module: sdyopt.Module) -> None:
    function = module.functions["layer"]
    x, w = function.arguments
    assert (x.name, x.is_argument, x.owner, w.index) == ("%arg0", True, function, 1)
    assert (str(x.sharding), w.sharding) == ('#sdy.sharding<@mesh, [{"data"}, {?}]>', None)
    assert (x.local_shape, w.local_shape) == ((2, 16), (16, 32))
    assert [str(type) for type in function.result_types] == ["tensor<8x32xf32>"]
    assert [str(sharding) for sharding in function.result_shardings] == [
        '#sdy.sharding<@mesh, [{"data"}, {}]>'
    ]
    assert not function.is_private
    assert repr(function) == "<func.func @layer>"


def test_a_declaration_has_no_arguments() -> None:
    function = sdyopt.parse("func.func private @f(tensor<4xf32>)").functions["f"]
    assert (function.arguments, function.is_private) == ((), True)


def test_an_operation_has_blocks_and_a_parent(module: sdyopt.Module, dot: sdyopt.Operation) -> None:
    function = module.functions["layer"]
    [[block]] = function.regions
    assert block.arguments == function.arguments
    assert block.operations[0] == dot
    assert dot.parent == function
    top = function.parent
    assert top is not None
    assert top.parent is None


def test_locations_name_the_line_of_the_python_program(dot: sdyopt.Operation) -> None:
    location = dot.location
    assert str(location) == 'loc("layer/dot"("model.py":12:7))'
    assert (location.file, location.line, location.column, location.name) == ("model.py", 12, 7, "layer/dot")
    assert location.short == "model.py:12"
    assert replace(location, file="/home/me/model.py").short == "model.py:12"
    assert dot.results[0].location == location


def test_types_have_a_shape_a_rank_and_an_element_type(dot: sdyopt.Operation) -> None:
    type = dot.results[0].type
    assert str(type) == "tensor<8x32xf32>"
    assert repr(type) == "Type(tensor<8x32xf32>)"
    assert (type.shape, type.rank, str(type.element_type)) == ((8, 32), 2, "f32")
    assert type == dot.parent.result_types[0]  # type: ignore[union-attr]  # it is a function
    assert len({type, dot.results[0].type, dot.operands[0].type}) == 2


def test_types_without_sizes_or_elements_have_none() -> None:
    program = "func.func private @f(tensor<?x4xi1>, tensor<*xf32>, i32)"
    [inputs] = [op.attributes["function_type"].value for op in sdyopt.parse(program).operations]
    assert str(inputs) == "(tensor<?x4xi1>, tensor<*xf32>, i32) -> ()"
    program = "func.func @f(%a: tensor<?x4xi1>, %b: tensor<*xf32>, %c: i32) {\n  return\n}"
    a, b, c = (value.type for value in sdyopt.parse(program).functions["f"].arguments)
    assert (a.shape, b.shape, c.shape) == ((None, 4), None, None)
    assert (a.rank, b.rank, c.rank) == (2, None, None)
    assert (str(b.element_type), c.element_type) == ("f32", None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 : i32", 3),
        ("true", True),
        ("-1.5 : f32", -1.5),
        ("0x7F800000 : f32", inf),
        ('"text"', "text"),
        ("unit", True),
        ("@name", "name"),
        ("@outer::@inner", "outer::inner"),
        ('[1 : i8, "a"]', (1, "a")),
        ("{a = 1, b = {c = true}}", {"a": 1, "b": {"c": True}}),
        ("array<i64: 1, 2>", (1, 2)),
        ("array<i1: true, false>", (True, False)),
        ("array<f32: 0.5>", (0.5,)),
    ],
)
def test_values_of_attributes(text: str, value: object) -> None:
    found = _attribute(text).value
    assert found == value
    assert type(found) is type(value)


def test_values_of_nan_of_a_type_and_of_elements() -> None:
    assert isnan(_attribute("0x7FC00000 : f32").value)
    assert isnan(_attribute("0x80 : f8E4M3FNUZ").value)
    assert str(_attribute("tensor<2xf32>").value) == "tensor<2xf32>"
    assert isinstance(_attribute("tensor<2xf32>").value, sdyopt.Type)
    elements = _attribute("dense<1> : tensor<2xi32>")
    assert elements.value is elements
    assert str(elements) == "dense<1> : tensor<2xi32>"


def _attribute(text: str) -> Any:
    program = f'"t.x"() {{a = {text}}} : () -> ()'
    return sdyopt.parse(program, allow_unregistered_dialects=True).operations[0].attributes["a"]


def test_attributes_are_inherent_and_discardable_ones() -> None:
    program = "func.func private @f() attributes {sdy.x = 1 : i64, no_inline}"
    function = sdyopt.parse(program, allow_unregistered_dialects=True).functions["f"]
    names = ["function_type", "no_inline", "sym_name", "sym_visibility", "sdy.x"]
    assert list(function.attributes) == names
    assert function.symbol_name == function.attributes["sym_name"].value == "f"


def test_views_of_one_operation_are_equal(module: sdyopt.Module) -> None:
    assert list(module.walk()) == list(module.walk())
    assert set(module.walk()).isdisjoint(module.clone().walk())
    function = module.functions["layer"]
    assert len({*function.arguments, *module.functions["layer"].arguments}) == 2
    assert function.regions[0][0] in {function.regions[0][0]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (3, "3 : i64"),
        (0.5, "5.000000e-01 : f64"),
        ("a", '"a"'),
        ([1, [True]], "[1, [true]]"),
        ({"b": "x", "a": 1}, '{a = 1 : i64, b = "x"}'),
        (sdyopt.Type.parse("tensor<?xf32>"), "tensor<?xf32>"),
        (sdyopt.Attribute.parse("array<i64: 1, 2>"), "array<i64: 1, 2>"),
    ],
)
def test_attributes_are_made_of_values(value: Any, text: str) -> None:
    attribute = sdyopt.Attribute.of(value)
    assert str(attribute) == text
    if not isinstance(value, list | sdyopt.Attribute):
        assert attribute.value == value
    assert attribute == sdyopt.Attribute.parse(text)


def test_shardings_are_attributes() -> None:
    sharding = sdyopt.Sharding(sdyopt.Mesh("mesh", {"x": 2}), ["x"])
    assert str(sdyopt.Attribute.of(sharding)) == '#sdy.sharding<@mesh, [{"x"}]>'
    assert str(sdyopt.Attribute.of([sharding])) == '#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>'


def test_text_that_is_no_type_or_attribute_is_an_error() -> None:
    for parse in (sdyopt.Type.parse, sdyopt.Attribute.parse):
        with pytest.raises(sdyopt.ParseError) as error:
            parse("tensor<8xf32> x")
        assert error.value.message == "expected the end of the text"
        assert error.value.location.column == 15
    with pytest.raises(TypeError, match="no attribute has the value"):
        sdyopt.Attribute.of(object())  # type: ignore[arg-type]
