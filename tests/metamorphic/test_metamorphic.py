"""Metamorphic properties on a few random modules; `python -m tests.metamorphic` checks more."""

import re
import sys
from random import Random

import pytest

from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from tests.metamorphic import passes, printing
from tests.metamorphic.permuting import difference_up_to_order, permute
from tests.metamorphic.processes import differences
from tests.metamorphic.properties import PROPERTIES, check, check_both
from tests.metamorphic.renaming import rename_axes, rename_functions, rename_values
from tests.metamorphic.splitting import axes_to_split, split_axes

PROGRAM = """\
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.negate"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize("name", PROPERTIES)
def test_holds_on_random_modules(name: str) -> None:
    assert [check(name, seed) for seed in range(4)] == [""] * 4


def test_every_use_of_a_name_is_renamed() -> None:
    assert rename_axes(PROGRAM).splitlines()[0] == 'sdy.mesh @mesh = <["r_x"=2, "r_y"=2]>'
    assert '"stablehlo.negate"(%arg0) {' in rename_axes(PROGRAM)
    assert '<@mesh, [{"r_x"}]>' in rename_axes(PROGRAM)
    assert "@r_f(%arg0" in rename_functions(PROGRAM)
    imported = 'sdy.named_computation<"f_1">(%0)'
    assert rename_functions(imported, PROGRAM) == 'sdy.named_computation<"r_f_1">(%0)'
    assert "%r_0 = " in rename_values(PROGRAM)
    assert "return %r_0" in rename_values(PROGRAM)


def test_axes_are_split_where_they_are_named() -> None:
    text = 'sdy.mesh @mesh = <["x"=4, "y"=2]>\n<@mesh, [{"x", "y"}, {"x":(2)2, ?}p1, {"x":(1)2}]>'
    assert axes_to_split(text) == {"x"}
    assert split_axes(text, {"x"}) == (
        'sdy.mesh @mesh = <["x_0"=2, "x_1"=2, "y"=2]>\n<@mesh, [{"x_0", "x_1", "y"}, {"x_1", ?}p1, {"x_0"}]>'
    )


CHAINS = """\
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.abs %0 : tensor<8xf32>
  stablehlo.custom_call @effect() {has_side_effect = true} : () -> ()
  %2 = stablehlo.exponential %a : tensor<8xf32>
  stablehlo.custom_call @later(%2) {has_side_effect = true} : (tensor<8xf32>) -> ()
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
"""


def test_permuted_operations_keep_dependences_and_effects() -> None:
    orders = set()
    for seed in range(20):
        module = printing.parse(CHAINS)
        permute(module, Random(seed))
        text = print_op(module)
        lines = [
            re.sub(r"%\w+ = stablehlo.", "", line.strip()).split()[0] for line in text.splitlines()[2:-2]
        ]
        assert lines.index("negate") < lines.index("abs")
        assert text.index("@effect") < text.index("@later")
        assert text.index("exponential") < text.index("@later")
        assert lines[-1] == "return"
        assert difference_up_to_order(printing.parse(CHAINS), printing.parse(text)) == ""
        orders.add(tuple(lines))
    assert len(orders) > 5


def test_programs_that_differ_in_more_than_order() -> None:
    other = CHAINS.replace("return %1, %2", "return %2, %1")
    difference = difference_up_to_order(printing.parse(CHAINS), printing.parse(other))
    assert difference.startswith("func.return")
    other = CHAINS.replace("stablehlo.abs", "stablehlo.cosine")
    assert "stablehlo.abs" in difference_up_to_order(printing.parse(CHAINS), printing.parse(other))


def test_a_property_must_hold_where_it_holds_in_the_reference() -> None:
    assert check_both("propagating twice", 0, passes.run_with_sdy_opt) == ""
    counter = iter(range(100))
    difference = check_both("propagating twice", 0, lambda text, pipeline: f"module {next(counter)}")
    assert difference.startswith("only in C++: ")


def test_hash_seeds_do_not_matter() -> None:
    assert differences(range(3), [sys.executable]) == []


def test_a_dependence_on_names_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "random_pipeline", lambda random: "sdy-close-shardings")
    violation = passes.does_not_depend_on_names(
        rename_axes, lambda text, program: text.upper(), PROGRAM, Random(0)
    )
    assert violation.startswith("builtin.module(sdy-close-shardings): MODULE {\n  is now\nmodule {")


def test_a_printer_that_loses_something_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "MODES", {"without regions": PrintOptions(skip_regions=True)})
    violation = printing.prints_what_it_parses(PROGRAM, Random(0))
    assert violation.startswith("in mode 'without regions': ")
