"""Edits of programs: what each changes, that the module stays as it was, and that errors are reported."""

from __future__ import annotations

import pytest

import sdyopt

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func private @callee(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8x8xf32>
  %1 = call @callee(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
"""
MESH = sdyopt.Mesh("mesh", {"x": 2, "y": 4})


@pytest.fixture
def module() -> sdyopt.Module:
    return sdyopt.parse(PROGRAM)


def body(program: sdyopt.Module | sdyopt.Rewriter) -> list[str]:
    """The operations of @main."""
    return [str(op) for op in program.functions["main"].body.operations]


def ops(program: sdyopt.Module | sdyopt.Rewriter, name: str) -> list[sdyopt.Operation]:
    return [op for op in program.walk() if op.name == name]


# --- Shardings ------------------------------------------------------------------------------------


def test_shardings_of_arguments_results_and_values_are_set_and_removed(module: sdyopt.Module) -> None:
    main = module.functions["main"]
    a, b = main.arguments
    [add] = ops(module, "stablehlo.add")
    before = str(module)
    with module.edit() as edit:
        edit.set_sharding(a, None)
        edit.set_sharding(b, sdyopt.Sharding(MESH, ["y"]))
        edit.set_result_sharding(main, 0, sdyopt.Sharding(MESH, [("x", "y"), None]))
        edit.set_sharding(add.results[0], sdyopt.Sharding(MESH, [None, "x"]))
    edited = edit.module.functions["main"]
    assert [str(each.sharding) for each in edited.arguments] == [
        "None",
        '#sdy.sharding<@mesh, [{"y"}, {}]>',
    ]
    assert [str(each) for each in edited.result_shardings] == ['#sdy.sharding<@mesh, [{"x", "y"}, {}]>']
    [add] = ops(edit.module, "stablehlo.add")
    assert str(add.results[0].sharding) == '#sdy.sharding<@mesh, [{}, {"x"}]>'
    assert str(module) == before
    with edit.module.edit() as again:
        again.set_sharding(add.results[0], None)
        again.set_result_sharding(edited, 0, None)
    assert str(again.module).count("sdy.sharding<") == 1


def test_one_of_several_shardings_becomes_open() -> None:
    module = sdyopt.parse("""
        sdy.mesh @mesh = <["x"=2]>
        func.func private @f() -> (tensor<8xf32>, tensor<8xf32>)
        func.func @main() {
          %0:2 = call @f() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>}
              : () -> (tensor<8xf32>, tensor<8xf32>)
          return
        }""")
    [call] = ops(module, "func.call")
    with module.edit() as edit:
        edit.set_sharding(call.results[0], None)
        assert str(edit.copy_of(call).attributes["sdy.sharding"]) == (
            "#sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{}]>]>"
        )
        edit.set_sharding(call.results[1], None)
    [call] = ops(edit.module, "func.call")
    assert "sdy.sharding" not in call.attributes


def test_a_constraint_is_inserted_before_all_uses(module: sdyopt.Module) -> None:
    main = module.functions["main"]
    with module.edit() as edit:
        constrained = edit.add_constraint(main.arguments[0], sdyopt.Sharding(MESH, [None, "y"]))
        assert str(constrained) == "%0: tensor<8x8xf32>"
    assert body(edit.module)[:2] == [
        '%0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>',
        "%1 = stablehlo.add %0, %0 : tensor<8x8xf32>",
    ]
    [constraint] = ops(edit.module, "sdy.sharding_constraint")
    assert constraint.location == main.arguments[0].location


def test_shardings_on_other_meshes_are_errors(module: sdyopt.Module) -> None:
    a = module.functions["main"].arguments[0]
    with module.edit() as edit:
        with pytest.raises(ValueError, match="no mesh @other; add it by set_mesh"):
            edit.set_sharding(a, sdyopt.Sharding(sdyopt.Mesh("other", {"x": 2}), ["x"]))
        with pytest.raises(ValueError, match=r'the module has Mesh.*, and the sharding Mesh.*"x"=4'):
            edit.set_sharding(a, sdyopt.Sharding(sdyopt.Mesh("mesh", {"x": 4}), ["x"]))
        with pytest.raises(ValueError, match="has more dimensions than tensor<8x8xf32>"):
            edit.set_sharding(a, sdyopt.Sharding(MESH, ["x", None, None]))
        edit.set_sharding(a, sdyopt.Sharding(sdyopt.Mesh("", {"z": 8}), ["z"]))
    assert 'mesh<["z"=8]>, [{"z"}, {}]' in str(edit.module)


# --- Operations -----------------------------------------------------------------------------------


def test_operations_are_created_replaced_moved_and_erased(module: sdyopt.Module) -> None:
    [add] = ops(module, "stablehlo.add")
    [multiply] = ops(module, "stablehlo.multiply")
    with module.edit() as edit:
        two = edit.create(
            "stablehlo.constant",
            attributes={"value": sdyopt.Attribute.parse("dense<2.0> : tensor<8x8xf32>")},
            before=add,
        )
        double = edit.create("stablehlo.multiply", [add.operands[0], two.results[0]], before=add)
        edit.replace(add, double)
        edit.set_operand(multiply, 1, double.results[0])
        edit.set_attribute(multiply, "name", "product")
        negated = edit.clone(double, after=double)
        edit.erase(negated)
        edit.move(two, at_start_of=module.functions["main"].body)
        assert double.location == add.location
        assert edit.changed
    assert body(edit.module) == [
        "%cst = stablehlo.constant dense<2.000000e+00> : tensor<8x8xf32>",
        "%0 = stablehlo.multiply %arg0, %cst : tensor<8x8xf32>",
        "%1 = func.call @callee(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>",
        '%2 = stablehlo.multiply %1, %0 {name = "product"} : tensor<8x8xf32>',
        "func.return %2 : tensor<8x8xf32>",
    ]


def test_text_is_inserted_at_each_kind_of_insertion_point(module: sdyopt.Module) -> None:
    [add] = ops(module, "stablehlo.add")
    main = module.functions["main"]
    text = "%0 = stablehlo.negate %x : tensor<8x8xf32>\n%1 = stablehlo.abs %0 : tensor<8x8xf32>"
    values = {"x": main.arguments[1]}
    with module.edit() as edit:
        negate, absolute = edit.insert(text, values, before=add)
        assert (negate.name, absolute.name) == ("stablehlo.negate", "stablehlo.abs")
        edit.insert(text, values, after=add)
        edit.insert(text, values, at_start_of=main.body)
        edit.insert("func.func private @declared()", at_end_of=edit.operations[0].parent.regions[0][0])  # type: ignore[union-attr]
        region = """
          %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
          ^bb0(%l: tensor<f32>, %r: tensor<f32>):
            %1 = stablehlo.add %l, %r : tensor<f32> loc("sum")
            stablehlo.return %1 : tensor<f32>
          }) : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>"""
        [zero] = edit.insert("%z = stablehlo.constant dense<0.0> : tensor<f32>", at_start_of=main.body)
        [reduce] = edit.insert(region, {"x": main.arguments[0], "z": zero.results[0]}, after=zero)
        [[block]] = reduce.regions
        assert block.operations[0].location.text == 'loc("sum")'
        assert block.operations[1].location == reduce.location == zero.location == main.location
    names = [op.name.partition(".")[2] for op in edit.module.functions["main"].body.operations]
    assert names == [
        *("constant", "reduce", "negate", "abs", "negate", "abs", "add", "negate", "abs"),
        *("call", "multiply", "return"),
    ]
    assert "declared" in edit.module.functions


def test_inserted_text_with_mistakes_changes_nothing(module: sdyopt.Module) -> None:
    [add] = ops(module, "stablehlo.add")
    with module.edit() as edit:
        for text, message in (
            ("%0 = stablehlo.negate %x : tensor<8xf32>", "use of value '%x' expects different type"),
            ("%0 = stablehlo.negate %y : tensor<8xf32>", "use of undeclared SSA value name"),
            ("%0 = stablehlo.negate %x : tensor<8x8xf32> }", "expected operation name in quotes"),
            ("%0 = toy.op", "Dialect `toy' not found"),
        ):
            with pytest.raises(sdyopt.ParseError, match=message) as found:
                edit.insert(text, {"x": add.results[0]}, after=add)
            assert found.value.location.file == "<inserted>"
        assert not edit.changed
    assert str(edit.module) == str(module)


def test_edits_that_cannot_be_made_are_errors(module: sdyopt.Module) -> None:
    [add] = ops(module, "stablehlo.add")
    with module.edit() as edit:
        for call, error in (
            (lambda: edit.erase(add), "%0: tensor<8x8xf32> is still used by <"),
            (lambda: edit.replace(add, []), "has 1 results, not 0"),
            (
                lambda: edit.create("stablehlo.ad", [], before=add),
                "no operation 'stablehlo.ad'; did you mean",
            ),
            (lambda: edit.create("toy.ad", [], before=add), "no operation 'toy.ad'; no such dialect"),
            (lambda: edit.create("stablehlo.reshape", add.operands[:1], before=add), "give result_types"),
            (lambda: edit.erase_mesh("mash"), "no mesh @mash; did you mean"),
            (lambda: edit.erase_argument(add.results[0]), "is not an argument of a function"),
            (lambda: edit.erase_argument(add.operands[0]), "is still used"),
            (lambda: edit.module, "after the end of the `with` block"),
        ):
            with pytest.raises(ValueError, match=error):
                call()
        for point in ({}, {"before": add, "after": add}, {"before": "%0"}):
            with pytest.raises(TypeError, match="one of before, after, at_end_of and at_start_of"):
                edit.clone(add, **point)
        other = sdyopt.parse(PROGRAM)
        with pytest.raises(ValueError, match="is not in this program"):
            edit.erase(other.operations[0])
    with pytest.raises(ValueError, match="edit a copy of it"):
        edit.erase(add)
    with pytest.raises(ValueError, match="edit a copy of it"):
        add.remark("no")


def test_a_declaration_gets_no_argument() -> None:
    module = sdyopt.parse("func.func private @f(f32)")
    with module.edit() as edit, pytest.raises(ValueError, match="is a declaration"):
        edit.add_argument(module.functions["f"], "f32")


def test_an_erased_operation_is_not_edited(module: sdyopt.Module) -> None:
    callee = module.functions["callee"]
    with module.edit() as edit:
        [call] = ops(edit, "func.call")
        edit.replace(call, [call.operands[0]])
        edit.erase(callee)
        for part in (call, callee, callee.body.operations[0]):
            with pytest.raises(ValueError, match="erased"):
                edit.set_attribute(part, "name", 1)
    assert "callee" not in edit.module.functions


# --- Functions and meshes -------------------------------------------------------------------------


def test_arguments_and_results_of_functions_follow_in_calls(module: sdyopt.Module) -> None:
    main, callee = module.functions["main"], module.functions["callee"]
    with module.edit() as edit:
        edit.erase_argument(main.arguments[1])
        added = edit.add_argument(main, "tensor<4xi32>", sdyopt.Sharding(MESH, ["y"]))
        edit.set_argument_attribute(added, "jax.buffer_donor", True)
        edit.add_result(callee, callee.arguments[0], sdyopt.Sharding(MESH, ["x"]))
        edit.set_result_attribute(callee, 1, "jax.result_info", "second")
    text = str(edit.module)
    second = '{jax.result_info = "second", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    assert f"-> (tensor<8x8xf32>, tensor<8x8xf32> {second})" in text
    third = '{jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}'
    assert f"%arg1: tensor<4xi32> {third}" in text
    assert "%1:2 = call @callee(%0) : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)" in text
    with edit.module.edit() as again:
        again.erase_result(edit.module.functions["callee"], 1)
    assert "%1 = call @callee(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>" in str(again.module)


SHARDED = 'tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}'
BUILT = f"""\
module @built {{
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @second = <["x"=2], device_ids=[1, 0]>
  func.func @main(%arg0: {SHARDED}) -> tensor<8xf32> {{
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] \
: (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }}
  func.func private @external(%arg0: f32) {{
    return
  }}
}}
"""


def test_a_module_is_built_from_nothing() -> None:
    with sdyopt.parse("module @built {}").edit() as edit:
        edit.set_mesh(MESH)
        edit.set_mesh(sdyopt.Mesh("second", {"x": 2}, [1, 0]))
        main = edit.add_function("main", ["tensor<8x8xf32>"], [sdyopt.Type.parse("tensor<8xf32>")])
        edit.set_sharding(main.arguments[0], sdyopt.Sharding(MESH, ["x", "y"]))
        zero = edit.create(
            "stablehlo.constant",
            attributes={"value": sdyopt.Attribute.parse("dense<0.0> : tensor<f32>")},
            at_end_of=main.body,
        )
        reduce = edit.create(
            "stablehlo.reduce",
            [main.arguments[0], zero.results[0]],
            ["tensor<8xf32>"],
            {"dimensions": sdyopt.Attribute.parse("array<i64: 1>")},
            regions=[["tensor<f32>", "tensor<f32>"]],
            at_end_of=main.body,
        )
        [[block]] = reduce.regions
        total = edit.create("stablehlo.maximum", block.arguments, at_end_of=block)
        edit.create("stablehlo.return", total.results, at_end_of=block)
        edit.create("func.return", reduce.results, at_end_of=main.body)
        edit.add_function("external", ["f32"], is_private=True)
        edit.insert("return", at_end_of=edit.functions["external"].body)
    assert edit.module.as_text() == BUILT
    with edit.module.edit() as again:
        again.set_mesh(sdyopt.Mesh("mesh", {"x": 4, "y": 2}))
        again.erase_mesh("second")
    assert again.module.meshes == {"mesh": sdyopt.Mesh("mesh", {"x": 4, "y": 2})}


# --- The end of an edit ---------------------------------------------------------------------------


def test_an_invalid_program_is_an_error_with_its_location(module: sdyopt.Module) -> None:
    with pytest.raises(sdyopt.VerifyError, match="axis") as found, module.edit() as edit:
        edit.set_mesh(sdyopt.Mesh("mesh", {"y": 4}))
    assert found.value.location.line == 7
    with pytest.raises(ValueError, match="after the end"):
        _ = edit.module


def test_diagnostics_of_an_edit(module: sdyopt.Module) -> None:
    [add] = ops(module, "stablehlo.add")
    with module.edit() as edit:
        edit.copy_of(add).remark("found", ("here", add.location), help="look")
    [remark] = edit.module.diagnostics
    assert (remark.message, remark.help, remark.severity) == ("found", "look", sdyopt.Severity.REMARK)
    assert remark.location == add.location == remark.notes[0].location
    with pytest.raises(sdyopt.PassError, match="not supported") as error, module.edit():
        raise add.error("not supported", ("here", add.location), help="remove it")
    assert error.value.help == "remove it"
    with pytest.raises(KeyError), module.edit():
        raise KeyError


def test_a_module_does_not_change_after_its_edit(module: sdyopt.Module) -> None:
    with module.edit() as edit:
        pass
    with pytest.raises(ValueError, match="in one `with` block"), edit:
        pass
    with pytest.raises(ValueError, match="edit a copy of it"):
        edit.erase_mesh("mesh")


def test_names_follow_edits(module: sdyopt.Module) -> None:
    with module.edit() as edit:
        [multiply] = ops(edit, "stablehlo.multiply")
        assert multiply.results[0].name == "%2"
        edit.clone(ops(edit, "stablehlo.add")[0], before=multiply)
        assert multiply.results[0].name == "%3"


# --- Patterns and passes --------------------------------------------------------------------------


def double_to_product(op: sdyopt.Operation, rewriter: sdyopt.Rewriter) -> bool:
    if op.operands[0] != op.operands[1]:
        return False
    text = """
      %c = stablehlo.constant dense<2.0> : tensor<8x8xf32>
      %0 = stablehlo.multiply %x, %c : tensor<8x8xf32>"""
    _, product = rewriter.insert(text, {"x": op.operands[0]}, before=op)
    rewriter.replace(op, product)
    return True


PATTERN = sdyopt.Pattern("stablehlo.add", double_to_product)


def test_patterns_are_applied_until_none_matches(module: sdyopt.Module) -> None:
    with module.edit() as edit:
        edit.apply(PATTERN)
        assert edit.changed
    assert body(edit.module)[:2] == [
        "%cst = stablehlo.constant dense<2.000000e+00> : tensor<8x8xf32>",
        "%0 = stablehlo.multiply %arg0, %cst : tensor<8x8xf32>",
    ]
    with edit.module.edit() as again:
        again.apply(PATTERN)
        assert not again.changed
        with pytest.raises(ValueError, match=r"no operation 'stablehlo.adds'"):
            again.apply(sdyopt.Pattern("stablehlo.adds", double_to_product))


def test_a_pattern_that_always_matches_is_an_error(module: sdyopt.Module) -> None:
    def rename(op: sdyopt.Operation, rewriter: sdyopt.Rewriter) -> bool:
        number = op.attributes["number"].value + 1 if "number" in op.attributes else 0
        rewriter.set_attribute(op, "number", number)
        return True

    with (
        pytest.raises(ValueError, match=r"rename' still matches stablehlo.add at .* after 10 iterations"),
        module.edit() as edit,
    ):
        edit.apply(sdyopt.Pattern("stablehlo.add", rename))


class Annotate(sdyopt.Pass):
    """annotate: give operations a name."""

    text: str = sdyopt.option(default="found", help="the name")

    def rewrite(self, rewriter: sdyopt.Rewriter) -> None:
        for op in rewriter.walk():
            if op.name == "stablehlo.add":
                op.remark("annotated")
                rewriter.set_attribute(op, "name", self.text)
            if self.text == "bad" and op.name == "stablehlo.multiply":
                raise op.error("a product", help="use sums")


def test_a_pass_uses_the_same_names(module: sdyopt.Module) -> None:
    result = module.run(Annotate(text="sum"))
    assert '%0 = stablehlo.add %arg0, %arg0 {name = "sum"} : tensor<8x8xf32>' in body(result)
    assert [each.message for each in result.diagnostics] == ["annotated"]
    with pytest.raises(sdyopt.PassError, match="a product") as error:
        module.run(Annotate(text="bad"))
    assert error.value.help == "use sums"
    assert Annotate().text == "found"


class ShardArguments(sdyopt.Pass):
    """shard-arguments: shard each argument of each function."""

    anchor = "func.func"

    def rewrite(self, rewriter: sdyopt.Rewriter) -> None:
        [function, *_] = rewriter.walk()
        assert isinstance(function, sdyopt.Function)
        assert "main" in rewriter.functions
        for argument in function.arguments:
            rewriter.set_sharding(argument, sdyopt.Sharding(rewriter.meshes["mesh"], ["y"]))
        with pytest.raises(ValueError, match="a pass on functions does not change the module"):
            rewriter.add_function("other")


def test_a_pass_on_functions_uses_the_meshes_of_the_module(module: sdyopt.Module) -> None:
    result = module.run(ShardArguments())
    shardings = {str(each.sharding) for f in result.functions.values() for each in f.arguments}
    assert shardings == {'#sdy.sharding<@mesh, [{"y"}, {}]>'}
