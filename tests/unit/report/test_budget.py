"""Budgets: what exceeds them, and invalid budget files."""

import pytest

from sdyopt.analysis.report.budget import Budget
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity
from sdyopt.base.diagnostics.location import FileLoc
from tests.unit.report.programs import report

# An all-gather of 6 KiB on the wire along "x", an all-reduce of 8 KiB along "y".
PROGRAM = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<64x32xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : tensor<64x32xf32> loc("model.py":6:1)
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32> loc("model.py":7:1)
  %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32> loc("loss.py":9:1)
  return %2 : tensor<64x32xf32> loc("model.py":8:1)
}
"""


def exceeded(budget: str) -> list[Diagnostic]:
    return list(Budget("budget.toml", budget).exceeded(report(PROGRAM)))


def messages(budget: str) -> list[str]:
    return [each.message for each in exceeded(budget)]


@pytest.mark.parametrize(
    "budget",
    [
        "",
        '[total]\nwire_bytes = "14 KiB"\ncollectives = 2\npeak_memory = "1 MiB"\nrepeated_flops = 0',
        '[kinds]\nall_gather = "6 KiB"',
        "[kinds]\ncross-replica-sum = 0",
        "[axes]\ny = 8192",
        '[[rules]]\nkind = "all_gather"\nmax_bytes = 0\nunless = ["model.py"]',
        '[[rules]]\naxis = "z"\nmax_bytes = 0',
        pytest.param("# " + "." * 300, id="a comment may have many dots"),
    ],
)
def test_budgets_that_are_not_exceeded(budget: str) -> None:
    assert messages(budget) == []


def test_a_total_names_the_collectives_that_contribute_most() -> None:
    (error,) = exceeded('[total]\nwire_bytes = "13 KiB"')
    assert error.severity is Severity.ERROR
    assert error.location == FileLoc("loss.py", 9, 1)
    assert error.message == "all collectives: 14.0 KiB on the wire, over the budget of 13.0 KiB"
    locations = [FileLoc("loss.py", 9, 1), FileLoc("model.py", 7, 1), FileLoc("budget.toml", 2, 1)]
    assert [note.location for note in error.notes] == locations


def test_the_limit_of_a_kind_is_exceeded() -> None:
    assert messages('[kinds]\nall_gather = "5 KiB"') == [
        "all_gather collectives: 6.00 KiB on the wire, over the budget of 5.00 KiB"
    ]


def test_the_limit_of_an_axis_is_exceeded() -> None:
    assert messages('[axes]\ny = "1 B"') == [
        'collectives along "y": 8.00 KiB on the wire, over the budget of 1 B'
    ]


def test_the_error_of_a_rule_is_at_the_line_of_the_collective() -> None:
    (error,) = exceeded('[[rules]]\nkind = "all_reduce"\naxis = "y"\nmax_bytes = "7.5 KiB"')
    assert error.location == FileLoc("loss.py", 9, 1)
    assert error.message == (
        'all_reduce {"y"} of tensor<64x32xf32>: 8.00 KiB, over the budget of 7.50 KiB for a single '
        'all_reduce along "y"'
    )
    assert error.notes[1].location == FileLoc("budget.toml", 4, 1)


def test_the_limits_of_collectives_and_memory_are_exceeded() -> None:
    assert messages("[total]\ncollectives = 1\npeak_memory = 100") == [
        "collectives: 2, over the budget of 1",
        "peak memory: 20.0 KiB, over the budget of 100 B",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[total]  # " + "." * 300,
        "# " + "a." * 300 + "\n[total]",
        "[[rules]]\nmax_bytes = 1\nunless = ['" + "." * 300 + '\', """\n' + "a." * 300 + '"""]',
        "[[rules]]\nmax_bytes = 1\nunless = [" + '"a.py", ' * 300 + "]",
    ],
)
def test_dots_outside_of_keys_do_not_count(text: str) -> None:
    Budget("budget.toml", text)


@pytest.mark.parametrize(
    ("budget", "line", "message", "help"),
    [
        ("[total\n", 1, "invalid TOML: Expected ']' at the end of a table declaration", None),
        ("[totals]\nx = 1", 1, "unknown table or key 'totals'", "did you mean 'total'?"),
        ("\n[total]\nwire_byte = 1", 3, "unknown key 'wire_byte' in [total]", "did you mean 'wire_bytes'?"),
        (
            '[total]\nwire_bytes = "lots"',
            2,
            "'wire_bytes' is not a quantity",
            'write a number with a unit, such as wire_bytes = "64 MiB"',
        ),
        ("[total]\ncollectives = -1", 2, "'collectives' is not a quantity", None),
        ("[kinds]\nall_gater = 1", 2, "unknown key 'all_gater' in [kinds]", "did you mean 'all_gather'?"),
        ('[[rules]]\nkind = "all_gather"', 1, "a rule needs max_bytes", None),
        ('[[rules]]\nmax_bytes = 1\n[[rules]]\nmax_bytes = "x"', 4, "'max_bytes' is not a quantity", None),
        ('[[rules]]\nmax_bytes = 1\nkind = "gather"', 3, "unknown kind 'gather'", None),
        ('[[rules]]\nmax_bytes = 1\nunless = "a.py"', 3, "'unless' must be a list of strings", None),
        ("rules = 3", 1, "'rules' must be an array of tables", "write [[rules]]"),
        ("total = 3", 1, "'total' must be a table", "write [total]"),
        pytest.param("a = " + "[" * 100_000, 1, "invalid TOML: it is nested too deeply", None, id="deep"),
        pytest.param(
            "[total]\na = " + "9" * 5000, 2, "invalid TOML: a number has too many digits", None, id="digits"
        ),
        pytest.param("[total]\n" + "a." * 300, 2, "invalid TOML: a key is nested too deeply", None, id="key"),
    ],
)
def test_invalid_budgets_are_located_and_have_help(
    budget: str, line: int, message: str, help: str | None
) -> None:
    with pytest.raises(DiagnosticError) as caught:
        Budget("budget.toml", budget)
    found = caught.value.diagnostic
    assert (found.message, found.location.line) == (message, line)  # type: ignore[attr-defined]  # of files
    if help is not None:
        assert found.help == help
