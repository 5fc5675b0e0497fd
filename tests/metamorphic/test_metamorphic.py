"""Metamorphic properties on a few random modules; `python -m tests.metamorphic` checks more."""

import sys
from random import Random

import pytest

from sdyopt.asm.printer.asm_printer import PrintOptions
from tests.metamorphic import passes, printing
from tests.metamorphic.processes import differences
from tests.metamorphic.properties import PROPERTIES, check
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
    assert "%r_0 = " in rename_values(PROGRAM)
    assert "return %r_0" in rename_values(PROGRAM)


def test_axes_are_split_where_they_are_named() -> None:
    text = 'sdy.mesh @mesh = <["x"=4, "y"=2]>\n<@mesh, [{"x", "y"}, {"x":(2)2, ?}p1, {"x":(1)2}]>'
    assert axes_to_split(text) == {"x"}
    assert split_axes(text, {"x"}) == (
        'sdy.mesh @mesh = <["x_0"=2, "x_1"=2, "y"=2]>\n<@mesh, [{"x_0", "x_1", "y"}, {"x_1", ?}p1, {"x_0"}]>'
    )


def test_hash_seeds_do_not_matter() -> None:
    assert differences(range(3), [sys.executable]) == []


def test_a_dependence_on_names_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "random_pipeline", lambda random: "sdy-close-shardings")
    violation = passes.does_not_depend_on_names(rename_axes, str.upper, PROGRAM, Random(0))
    assert violation.startswith("builtin.module(sdy-close-shardings): MODULE {\n  is now\nmodule {")


def test_a_printer_that_loses_something_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "MODES", {"without regions": PrintOptions(skip_regions=True)})
    violation = printing.prints_what_it_parses(PROGRAM, Random(0))
    assert violation.startswith("in mode 'without regions': ")
