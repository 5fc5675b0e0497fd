"""The location of an operation in a called function: its own line, or else that of the call."""

from sdyopt.analysis.figures.source_locations import Frame, SourceLocation, UserLines
from tests.unit.report.programs import report

PROGRAM = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @outer(%a) : (tensor<8xf32>) -> tensor<8xf32> loc("jit(step)"("model.py":7:1))
  return %0 : tensor<8xf32>
}
func.func private @outer(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @take(%a) : (tensor<8xf32>) -> tensor<8xf32> loc("jit(take)")
  return %0 : tensor<8xf32>
}
func.func private @take(%a: tensor<8xf32>) -> tensor<8xf32> {
  %n = stablehlo.negate %a : tensor<8xf32> loc(unknown)
  %0 = sdy.all_reduce {"x"} %n out_sharding=<@mesh, [{}]> : tensor<8xf32> loc("scatter-add")
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32> loc("sum"("take.py":3:1))
  return %1 : tensor<8xf32> loc(unknown)
}
"""


def test_an_operation_without_a_line_has_that_of_the_call() -> None:
    without, with_line = report(PROGRAM).collectives
    assert without.location.path_text == "model.py:7"
    assert without.location.name_stack == "jit(step)/jit(take)/scatter-add"
    assert with_line.location.path_text == "take.py:3"


def test_without_any_line_the_name_is_shown() -> None:
    program = PROGRAM.replace(' loc("jit(step)"("model.py":7:1))', ' loc("jit(step)")')
    assert report(program).collectives[0].location.path_text == "scatter-add"


def test_of_functions_that_call_each_other_the_call_from_outside_is_shown() -> None:
    call = 'call @outer(%n) : (tensor<8xf32>) -> tensor<8xf32> loc("jit(take)")'
    program = PROGRAM.replace("%0 = sdy", f"%m = {call}\n  %0 = sdy").replace('{"x"} %n', '{"x"} %m')
    assert report(program).collectives[0].location.path_text == "model.py:7"


def test_a_constraint_in_a_helper_that_the_program_lacks_is_at_its_call() -> None:
    frames = (Frame("constrain", "model.py", 3, 0), Frame("layer", "model.py", 9, 0))
    location = SourceLocation("model.py", 3, 0, "", frames, "jit(f)/sharding_constraint")
    assert UserLines(list).chosen(location).line == 9


def test_a_program_of_libraries_only_is_at_their_lines() -> None:
    file = "/usr/lib/python3/site-packages/flax/linen/linear.py"
    frames = (Frame("__call__", file, 3, 0), Frame("apply", file, 9, 0))
    location = SourceLocation(file, 3, 0, "", frames)
    assert UserLines(list).chosen(location) is location
