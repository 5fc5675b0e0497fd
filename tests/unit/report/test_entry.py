"""Reports for callers that have a module: texts, files and findings."""

import json
from pathlib import Path

import pytest

from sdyopt.analysis.figures.assumed_pipeline import reason_to_leave
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.analysis.report.entry import (
    over_baseline,
    over_budget,
    read_topology,
    report_on,
    report_text,
    write_report,
)
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc
from sdyopt.base.diagnostics.usage import UsageError
from tests.unit.report.programs import module

PROGRAM = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<64x32xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
"""


def test_the_suffix_selects_the_format() -> None:
    report = report_on(module(PROGRAM))
    assert report_text(report).startswith('4 devices, mesh <["x"=4]>\n')
    assert json.loads(report_text(report, ".json"))["devices"] == 4
    assert "sdy.all_gather" in report_text(report, ".html", program=PROGRAM)
    with pytest.raises(UsageError):
        report_text(report, ".pdf")


def test_a_program_from_between_passes_needs_no_others() -> None:
    program = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.data_flow_edge %a sharding=<@mesh, [{"x"}]> : tensor<8xf32>
      %1 = stablehlo.abs %0 : tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    """
    assert reason_to_leave(module(program)) == "is from between the passes of Shardy's pipeline"


def test_an_existing_file_is_replaced_atomically(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    path.chmod(0o640)
    inode = path.stat().st_ino
    write_report(report_on(module(PROGRAM)), str(path))
    assert json.loads(path.read_text())["schema"] == "sdy-opt-report"
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_ino != inode
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        write_report(report_on(module(PROGRAM)), str(tmp_path / "missing" / "report.json"))
    with pytest.raises(UsageError):
        write_report(report_on(module(PROGRAM)), str(tmp_path / "report.pdf"))
    assert list(tmp_path.iterdir()) == []


def test_budgets_and_baselines_are_checked(tmp_path: Path) -> None:
    report = report_on(module(PROGRAM))
    (tmp_path / "budget.toml").write_text("[kinds]\nall_gather = 0\n")
    (found,) = over_budget(report, str(tmp_path / "budget.toml"))
    assert found.message.startswith("all_gather collectives: 6.00 KiB")
    write_report(report, str(tmp_path / "old.json"))
    assert over_baseline(report, str(tmp_path / "old.json")) == []


def test_an_invalid_topology_is_located(tmp_path: Path) -> None:
    path = str(tmp_path / "topology.toml")
    (tmp_path / "topology.toml").write_text("\nflops = 0")
    with pytest.raises(DiagnosticError, match="'flops' is zero") as caught:
        read_topology(path)
    assert caught.value.diagnostic.location == FileLoc(path, 2, 1)


def test_a_loop_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "loop.json").symlink_to("loop.json")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        write_report(report_on(module(PROGRAM)), str(tmp_path / "loop.json"))


@pytest.mark.parametrize(
    ("given", "returned", "sent"),
    [
        ("{}, {}", '{"x"}, {}', 3 * 1024),
        ('{"x"}, {}', "{}, {}", 0),
        ('{"x"}, {}', '{}, {"x"}', 1024),
    ],
)
def test_carried_state_is_gathered_sliced_or_exchanged(given: str, returned: str, sent: int) -> None:
    text = f"""
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<32x32xf32> {{jax.buffer_donor = true,
                                           sdy.sharding = #sdy.sharding<@mesh, [{given}]>}})
        -> (tensor<32x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{returned}]>}}) {{
      return %a : tensor<32x32xf32>
    }}
    """
    [carried] = report_on(module(text)).carried
    assert carried.wire_bytes == sent


@pytest.mark.parametrize("machine", ["tpu-v5e", "h100"])
def test_figures_that_no_float_holds_are_an_error_at_the_largest_tensor(machine: str) -> None:
    large = f"tensor<{'2x' * 1100}f32>"
    program = module(
        f"func.func @main(%a: tensor<4xf32>, %b: {large}) -> {large} {{\n"
        f"  %0 = stablehlo.negate %a : tensor<4xf32>\n  %1 = stablehlo.negate %b : {large}\n"
        f"  return %1 : {large}\n}}"
    )
    with pytest.raises(DiagnosticError, match="too large to estimate its time") as caught:
        report_on(program, built_in_topology(machine))
    assert str(caught.value.diagnostic.location).endswith(":1:1)")
    assert report_on(program).memory.peak > 1 << 1100
