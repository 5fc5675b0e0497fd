"""Which values do not change in a loop."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from sdyopt.analysis.figures.execution_counts import AssumedTrips, ExecutionCounts
from sdyopt.analysis.figures.loop_invariants import MAX_SOURCES, is_invariant, loop_around, loop_left
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op
from tests.unit.lint.programs import program


def loop(body: str, passed_on: str = "%w", functions: str = "") -> LintedProgram:
    """A program whose loop carries %w, and runs a body that defines %v."""
    return program(f"""
    func.func @main(%outside: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %l:2 = stablehlo.while(%i = %zero, %w = %outside) : tensor<i32>, tensor<8xf32>
      cond {{
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %next = stablehlo.add %i, %one : tensor<i32>
        {body}
        stablehlo.return %next, {passed_on} : tensor<i32>, tensor<8xf32>
      }}
      return %l#1 : tensor<8xf32>
    }}
    {functions}
    """)


def is_last_invariant(found: LintedProgram, name: str = "stablehlo.negate") -> bool:
    """Whether the operand of the last operation of this name does not change in its loop."""
    op = [each for each in found.module.walk() if each.signature.name == name][-1]
    around = loop_around(op, found.counts)
    assert isinstance(around, WhileOp)
    return is_invariant(op.operand_at(0), around, found.counts)


@pytest.mark.parametrize(
    ("operand", "passed_on", "expected"),
    [
        ("%outside", "%w", True),
        ("%w", "%w", True),
        ("%w", "%v", False),
        ("%t", "%w", True),
        ("%t", "%v", False),
        ("%s", "%w", False),
    ],
)
def test_operands_that_do_not_change_in_the_loop(operand: str, passed_on: str, expected: bool) -> None:
    body = f"""
        %t = stablehlo.tanh %w : tensor<8xf32>
        %c = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
        %s = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8xf32>
        %v = stablehlo.negate {operand} : tensor<8xf32>"""
    assert is_last_invariant(loop(body, passed_on)) is expected


@pytest.mark.parametrize(("trips", "is_left"), [(None, True), (10, True), (0, False)])
def test_an_operation_leaves_a_loop_that_runs(trips: int | None, is_left: bool) -> None:
    found = loop("%v = stablehlo.negate %w : tensor<8xf32>")
    op = next(each for each in found.module.walk() if each.signature.name == "stablehlo.negate")
    counts = ExecutionCounts(found.module, AssumedTrips(others=trips))
    assert loop_left(op, counts) is (loop_around(op, counts) if is_left else None)


def test_an_operation_in_a_branch_stays_in_the_loop() -> None:
    branch = """
        %q = stablehlo.compare EQ, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %v = "stablehlo.if"(%q) ({
          %x = stablehlo.negate %w : tensor<8xf32>
          stablehlo.return %x : tensor<8xf32>
        }, {
          stablehlo.return %w : tensor<8xf32>
        }) : (tensor<i1>) -> tensor<8xf32>"""
    found = loop(branch)
    op = next(each for each in found.module.walk() if each.signature.name == "stablehlo.negate")
    assert loop_around(op, found.counts) is not None
    assert loop_left(op, found.counts) is None


def test_the_body_of_a_loop_may_be_a_function() -> None:
    body = "%v = func.call @body(%w) : (tensor<8xf32>) -> tensor<8xf32>"
    function = """
    func.func private @body(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.negate %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    assert is_last_invariant(loop(body, functions=function))
    assert not is_last_invariant(loop(body, passed_on="%v", functions=function))


def test_a_function_with_several_calls_has_no_loop() -> None:
    call = "func.call @body(%w) : (tensor<8xf32>) -> tensor<8xf32>"
    function = """
    func.func private @body(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.negate %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    found = loop(f"%v = {call}\n%u = {call}", functions=function)
    [op] = [each for each in found.module.walk() if each.signature.name == "stablehlo.negate"]
    assert loop_around(op, found.counts) is None


def test_an_operation_of_a_recursive_function_has_no_loop() -> None:
    found = program("""
    func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.negate %x : tensor<8xf32>
      %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
      return %1 : tensor<8xf32>
    }""")
    op: Op = next(each for each in found.module.walk() if each.signature.name == "stablehlo.negate")
    assert loop_around(op, found.counts) is None


def test_a_long_chain_counts_as_changing() -> None:
    names = ["%w", *(f"%x{number}" for number in range(MAX_SOURCES + 1))]
    chain = "\n".join(f"{name} = stablehlo.tanh {before} : tensor<8xf32>" for before, name in pairwise(names))
    assert not is_last_invariant(loop(f"{chain}\n%v = stablehlo.negate {names[-1]} : tensor<8xf32>"))


def nested_loops(count: int) -> LintedProgram:
    opening = "".join(
        f"""
      %l{n} = stablehlo.while(%i{n} = {f"%i{n - 1}" if n else "%w"}) : tensor<8xf32>
      cond {{ stablehlo.return %p : tensor<i1> }} do {{
        %v{n} = stablehlo.negate %w : tensor<8xf32>"""
        for n in range(count)
    )
    closing = "".join(f"stablehlo.return %v{n} : tensor<8xf32> }}\n" for n in reversed(range(count)))
    return program(f"""
    func.func @main(%w: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {{
      {opening}
      {closing}
      return %l0 : tensor<8xf32>
    }}""")


def test_values_from_outside_many_loops_are_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a value is from outside is not looked up through all loops around each operation."""
    steps = []
    for count in (20, 40):
        found = nested_loops(count)
        ops = [each for each in found.module.walk() if each.signature.name == "stablehlo.negate"]
        pairs = [(op, around) for op in ops if (around := loop_around(op, found.counts)) is not None]
        assert len(pairs) == count
        steps.append(0)
        parent_op: Callable[[Op], Op | None] = vars(Op)["parent_op"].fget

        def counted(op: Op, of: Callable[[Op], Op | None] = parent_op) -> Op | None:
            steps[-1] += 1
            return of(op)

        with monkeypatch.context() as patch:
            patch.setattr(Op, "parent_op", property(counted))
            assert all(is_invariant(op.operand_at(0), around, found.counts) for op, around in pairs)
    assert steps[1] <= 3 * steps[0]
