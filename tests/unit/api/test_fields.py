"""Operands, attributes and regions of operations as fields, built and replaced the same way."""

from __future__ import annotations

import pytest

import sdyopt

PROGRAM = """
func.func @main(%x: tensor<8x16xf32>, %y: tensor<16x4xf32>, %c: i1) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.add %0, %0 : tensor<8x4xf32>
  cf.cond_br %c, ^bb1(%1 : tensor<8x4xf32>), ^bb2
^bb1(%2: tensor<8x4xf32>):
  return %2 : tensor<8x4xf32>
^bb2:
  return %0 : tensor<8x4xf32>
}
"""


@pytest.fixture
def module() -> sdyopt.Module:
    return sdyopt.parse(PROGRAM)


@pytest.fixture
def operations(module: sdyopt.Module) -> tuple[sdyopt.Operation, ...]:
    return module.functions["main"].body.operations


def test_fields_of_operations(module: sdyopt.Module, operations: tuple[sdyopt.Operation, ...]) -> None:
    dot, add, branch = operations
    main = module.functions["main"]
    assert (dot.lhs, dot.rhs) == main.arguments[:2]
    assert dot.out == dot.results[0]
    assert dot.precision_config is None
    assert list(dot.fields) == ["lhs", "rhs", "dot_dimension_numbers", "precision_config", "algorithm", "out"]
    assert branch.true_dest_operands == (add.out,)
    assert branch.false_dest_operands == ()
    assert branch.successors == (branch.true_dest, branch.false_dest)
    assert [len(block.arguments) for block in branch.successors] == [1, 0]
    assert main.sym_name == "main"
    assert main.fields["body"] == main.regions[0]
    assert "elementwise" in add.traits
    assert "terminator" in branch.traits


def test_fields_of_attributes(operations: tuple[sdyopt.Operation, ...]) -> None:
    numbers = operations[0].dot_dimension_numbers
    assert numbers.lhs_contracting_dimensions == (1,)
    assert numbers.lhs_batching_dimensions == ()
    assert numbers.fields["rhs_contracting_dimensions"] == (0,)
    batched = numbers.with_fields(lhs_batching_dimensions=[0], rhs_batching_dimensions=[1])
    assert str(batched) == (
        "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], "
        "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    )
    assert numbers.with_fields() == numbers
    with pytest.raises(sdyopt.ParseError):
        numbers.with_fields(lhs_batching_dimensions="x")


def test_misspelled_fields_have_help(operations: tuple[sdyopt.Operation, ...]) -> None:
    dot = operations[0]
    with pytest.raises(
        AttributeError, match=r"stablehlo\.dot_general has no field 'lsh'; did you mean 'lhs'\?"
    ):
        dot.lsh  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'lhs_contracting_dimensions'"):
        dot.dot_dimension_numbers.lhs_contracting  # noqa: B018
    with pytest.raises(
        TypeError, match="no field 'lhs_contracting'; did you mean 'lhs_contracting_dimensions'"
    ):
        dot.dot_dimension_numbers.with_fields(lhs_contracting=[1])
    assert not hasattr(dot, "__array__")


def test_fields_are_completed(operations: tuple[sdyopt.Operation, ...]) -> None:
    dot = operations[0]
    assert {"lhs", "dot_dimension_numbers", "operands"} <= set(dir(dot))
    assert {"lhs_contracting_dimensions", "with_fields"} <= set(dir(dot.dot_dimension_numbers))


def test_values_know_where_they_are_defined(operations: tuple[sdyopt.Operation, ...]) -> None:
    dot, *_ = operations
    assert dot.out.defining_op == dot
    assert dot.lhs.defining_op is None
    assert dot.lhs.block == dot.out.block
    assert dot.lhs.block.parent == dot.parent


def test_attributes_are_made_of_values(
    module: sdyopt.Module, operations: tuple[sdyopt.Operation, ...]
) -> None:
    dot, *_ = operations
    with module.edit() as edit:
        transposed = edit.create(
            "stablehlo.transpose", [dot.rhs], attributes={"permutation": [1, 0]}, before=dot
        )
        assert str(transposed.results[0].type) == "tensor<4x16xf32>"
        edit.set_operand(dot, 1, transposed.results[0])
        edit.set_attribute(
            dot,
            "dot_dimension_numbers",
            {"lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": [1]},
        )
        edit.set_attribute(dot, "precision_config", ["HIGH", "DEFAULT"])
        edit.set_attribute(dot, "note", [1, 0])
        with pytest.raises(ValueError, match=r"takes no 'FAST' as 'precision_config'"):
            edit.set_attribute(dot, "precision_config", "FAST")
    text = str(edit.module)
    assert "contracting_dims = [1] x [1], precision = [HIGH, DEFAULT] {note = [1, 0]}" in text


def test_operands_that_do_not_exist(module: sdyopt.Module, operations: tuple[sdyopt.Operation, ...]) -> None:
    dot, add, _ = operations
    main = module.functions["main"]
    with module.edit() as edit:
        for index in (2, 3, -1):
            with pytest.raises(
                ValueError, match=f"<stablehlo.add> has 2 operands: there is no operand {index}"
            ):
                edit.set_operand(add, index, dot.out)
        with pytest.raises(ValueError, match="has 1 result: there is no result 1"):
            edit.set_result_sharding(main, 1, None)
        with pytest.raises(ValueError, match="has 1 result: there is no result 2"):
            edit.set_result_attribute(main, 2, "mhlo.note", 1)
        with pytest.raises(ValueError, match="has 1 result: there is no result 1"):
            edit.erase_result(main, 1)
        with pytest.raises(ValueError, match="has 0 regions: there is no region 0"):
            edit.add_block(dot)


def test_regions_are_built(module: sdyopt.Module, operations: tuple[sdyopt.Operation, ...]) -> None:
    _, add, _ = operations
    matrix = "tensor<8x4xf32>"
    with module.edit() as edit:
        loop = edit.create("stablehlo.while", [add.out], [matrix], regions=[[matrix], [matrix]], after=add)
        [cond], [body] = loop.cond, loop.body
        false = edit.create(
            "stablehlo.constant",
            attributes={"value": sdyopt.Attribute.parse("dense<false> : tensor<i1>")},
            result_types=["tensor<i1>"],
            at_end_of=cond,
        )
        edit.create("stablehlo.return", false.results, at_end_of=cond)
        doubled = edit.create("stablehlo.add", [body.arguments[0]] * 2, at_end_of=body)
        edit.create("stablehlo.return", doubled.results, at_end_of=body)
    assert "stablehlo.while(%iterArg = %1) : tensor<8x4xf32>" in str(edit.module)


def test_blocks_are_added_and_erased(module: sdyopt.Module, operations: tuple[sdyopt.Operation, ...]) -> None:
    *_, add, branch = operations
    main = module.functions["main"]
    with module.edit() as edit:
        block = edit.add_block(main, ["i1"], after=main.body)
        extra = edit.add_block_argument(block, "i32")
        assert (str(extra.type), extra.block) == ("i32", block)
        edit.erase_block_argument(extra)
        edit.create("func.return", [add.out], at_end_of=block)
        edit.create(
            "cf.cond_br",
            [main.arguments[2], main.arguments[2]],
            attributes={"operandSegmentSizes": sdyopt.Attribute.parse("array<i32: 1, 1, 0>")},
            successors=[block, branch.false_dest],
            before=branch,
        )
        with pytest.raises(ValueError, match="an operation branches to the block"):
            edit.erase_block(branch.true_dest)
        edit.erase(branch)
        edit.erase_block(branch.true_dest)
        for entry_edit in (
            lambda: edit.add_block_argument(main.body, "i1"),
            lambda: edit.erase_block_argument(main.arguments[0]),
        ):
            with pytest.raises(ValueError, match="the block is that of a function"):
                entry_edit()
    assert [len(block.operations) for block in edit.module.functions["main"].regions[0]] == [3, 1, 1]


def test_a_block_whose_results_are_used_is_not_erased(module: sdyopt.Module) -> None:
    error = pytest.raises(ValueError, match=r"%0: tensor<8x4xf32> is still used by <func\.return>")
    with module.edit() as edit, error:
        edit.erase_block(module.functions["main"].body)


def test_blocks_are_inlined() -> None:
    module = sdyopt.parse("""
func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.if"(%c) ({
    %1 = stablehlo.negate %x : tensor<2xf32>
    %2 = stablehlo.sine %1 : tensor<2xf32>
    stablehlo.return %2 : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
""")
    [choice, _] = module.functions["main"].body.operations
    with module.edit() as edit:
        values = edit.inline_block(choice.true_branch[0], before=choice)
        edit.replace(choice, values)
    names = [op.name for op in edit.module.functions["main"].body.operations]
    assert names == ["stablehlo.negate", "stablehlo.sine", "func.return"]
    with module.edit() as edit, pytest.raises(ValueError, match="the block has 0 arguments, not 1"):
        edit.inline_block(choice.true_branch[0], [choice.results[0]], before=choice)


def test_patterns_of_any_operation_and_by_trait(module: sdyopt.Module) -> None:
    seen: list[str] = []

    def see(op: sdyopt.Operation, rewriter: sdyopt.Rewriter) -> bool:
        seen.append(op.name)
        return False

    with module.edit() as edit:
        edit.apply(sdyopt.Pattern(None, see))
    assert {"stablehlo.dot_general", "stablehlo.add", "cf.cond_br", "func.return"} <= set(seen)
    seen.clear()
    with module.edit() as edit:
        edit.apply(sdyopt.Pattern(None, see, trait="elementwise"))
    assert set(seen) == {"stablehlo.add"}
    seen.clear()
    with module.edit() as edit:
        edit.apply(sdyopt.Pattern("stablehlo.dot_general", see, trait="elementwise"))
    assert seen == []


def test_patterns_without_end_are_named(module: sdyopt.Module) -> None:
    def again(op: sdyopt.Operation, rewriter: sdyopt.Rewriter) -> bool:
        rewriter.replace(op, rewriter.create(op.name, op.operands, before=op))
        return True

    def mark(op: sdyopt.Operation, rewriter: sdyopt.Rewriter) -> bool:
        if "mark" in op.attributes:
            return False
        rewriter.set_attribute(op, "mark", True)
        return True

    with (
        module.edit() as edit,
        pytest.raises(
            ValueError, match=r"again' still matches stablehlo\.add at <string>:5 after 3 iterations"
        ) as error,
    ):
        edit.apply(
            sdyopt.Pattern(None, mark, benefit=2),
            sdyopt.Pattern(None, again, trait="elementwise"),
            max_iterations=3,
        )
    assert "again' matched stablehlo.add" in str(error.value)
    assert "mark' matched" in str(error.value)
