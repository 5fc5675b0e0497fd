"""The order in which a round visits operations; operations are numbers in program order."""

from passes.propagation.engine.worklist import DependentOps, Worklist
from sdyopt.mlir.ir.value import BlockArgument
from tests.simulation.programs import function_of, read


def test_a_round_visits_every_dirty_operation_once() -> None:
    worklist = Worklist(3, 0)
    assert list(worklist.visits()) == [0, 1, 2]
    worklist.mark_dirty(1)
    assert list(worklist.visits()) == [1]


def test_pushed_operations_come_before_the_next_one_the_last_first() -> None:
    worklist = Worklist(4, 0)
    visits = worklist.visits()
    assert [next(visits, -1) for _ in range(3)] == [0, 1, 2]
    worklist.mark_dirty(0)
    worklist.mark_dirty(1)
    worklist.push([0, 1])
    assert [next(visits, -1) for _ in range(4)] == [1, 0, 3, -1]


def test_what_has_not_been_reached_is_not_pushed() -> None:
    worklist = Worklist(3, 0)
    visits = worklist.visits()
    assert next(visits, -1) == 0
    worklist.push([2, 1])
    assert [next(visits, -1) for _ in range(3)] == [1, 2, -1]


def test_what_is_on_the_stack_is_not_pushed_again() -> None:
    worklist = Worklist(2, 0)
    visits = worklist.visits()
    assert [next(visits, -1) for _ in range(2)] == [0, 1]
    worklist.mark_dirty(0)
    worklist.push([0])
    worklist.push([0])
    assert next(visits, -1) == 0
    worklist.mark_dirty(0)
    assert next(visits, -1) == -1, "it was on the stack once"


def test_what_was_on_the_stack_is_pushed_again() -> None:
    worklist = Worklist(3, 0)
    visits = worklist.visits()
    assert [next(visits, -1) for _ in range(2)] == [0, 1]
    for next_in_order in (2, -1):
        worklist.mark_dirty(0)
        worklist.push([0])
        assert [next(visits, -1) for _ in range(2)] == [0, next_in_order]


def test_operations_that_are_not_dirty_are_skipped() -> None:
    worklist = Worklist(3, 0)
    visits = worklist.visits()
    assert [next(visits, -1) for _ in range(2)] == [0, 1]
    worklist.push([0])
    assert next(visits, -1) == 2
    worklist.mark_dirty(1)
    worklist.push([1])
    assert next(visits, -1) == 1
    worklist.push([1])
    assert next(visits, -1) == -1, "its visit made it clean"
    first, second = 1, 1 << 8
    worklist.mark(first | second)
    assert worklist.take_out(second | 1 << 16) == second
    assert list(worklist.visits()) == [0]


def test_results_are_not_popped_but_visited_apart() -> None:
    worklist = Worklist(1, 3)
    visits = worklist.visits()
    assert [next(visits, -1) for _ in range(2)] == [0, -1]
    assert list(worklist.dirty_results()) == [1, 2, 3]
    worklist.mark_dirty(1)
    visited = []
    for result in worklist.dirty_results():
        visited.append(result)
        if result == 1:
            worklist.mark_dirty(3)
    assert visited == [1, 3], "the visit of result 1 made result 3 dirty"
    assert list(worklist.dirty_results()) == []


def test_operands_of_calls_are_no_sources_of_the_edges_of_their_results() -> None:
    module = read("""
    func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = call @g(%a) : (tensor<8xf32>) -> tensor<8xf32>
      %1 = sdy.data_flow_edge %0 : tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    func.func private @g(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.sine %a : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    """)
    argument = function_of(module).entry.arguments[0]
    assert isinstance(argument, BlockArgument)
    assert [op.signature.name for op in DependentOps(module).of_value(argument)] == [
        "func.func",
        "stablehlo.sine",
    ]
