"""The page of a report: its data, what it takes from the input, and the source files that it shows."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import sdyopt
from sdyopt.analysis.report.check.check_text import reasons_text
from sdyopt.analysis.report.check.checker import places_of
from sdyopt.analysis.report.html_report import html_report
from sdyopt.analysis.report.page_data import spec_of
from sdyopt.analysis.report.text_report import text_report
from sdyopt.base.diagnostics.whole_files import source_files
from tests.unit.report.programs import report

LOOP = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32>, %n: tensor<i32>) -> tensor<8x8xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%j = %i, %b = %a) : tensor<i32>, tensor<8x8xf32>
  cond {
    %c = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1 = sdy.all_reduce {"x"} %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    stablehlo.return %j, %1 : tensor<i32>, tensor<8x8xf32>
  }
  return %0#1 : tensor<8x8xf32>
}
"""


def data_of(page: str) -> dict[str, Any]:
    [found] = re.findall('<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    data: dict[str, Any] = json.loads(found)
    return data


def test_what_is_unknown_is_shown_as_unknown() -> None:
    page = html_report(report(LOOP), LOOP, "loop.mlir")
    # 8 x 8 floats are 256 bytes, and an all-reduce along 2 devices sends them once.
    assert '<p class="figure">256 B × n</p>' in page
    assert "time unknown: give --topology" in page
    assert "unknown whether it fits" in page
    collectives = data_of(page)["collectives"]
    [row] = collectives["rows"]
    figures = dict(zip(collectives["fields"], row, strict=True))
    assert (figures["size"], figures["perIteration"], figures["seconds"]) == (None, 256, None)


def test_a_page_takes_no_markup_from_the_program() -> None:
    evil = '<img src=x onerror=alert(1)></script><script>alert(1)</script>"'
    text = LOOP.replace('"x"', '"<b>x"').replace("@main", '@"</script><script>alert(2)</script>"')
    page = html_report(report(text), text, evil)
    assert page.count("<script>") == 1
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>x" not in page


def test_a_long_program_is_compressed() -> None:
    line = "  // a line of the program that is as long as others\n"
    pages = [len(html_report(report(LOOP), LOOP + line * count, "loop.mlir")) for count in (3_000, 10_000)]
    assert pages[1] < pages[0] < 3_000 * len(line) + 100_000


def test_files_outside_of_the_folder_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, outside = tmp_path / "project", tmp_path / "secret.py"
    folder.mkdir()
    outside.write_text("password = 1", encoding="utf-8")
    (folder / "model.py").write_text("x = 1", encoding="utf-8")
    (folder / "notes.txt").write_text("notes", encoding="utf-8")
    (folder / "link.py").symlink_to(outside)
    monkeypatch.chdir(folder)
    names = [
        "model.py",
        "notes.txt",
        "link.py",
        "../secret.py",
        str(outside),
        str(folder / "model.py"),
        "\0.py",
    ]
    found = source_files(names, "-", None)
    assert found == {"model.py": "x = 1", str(folder / "model.py"): "x = 1"}
    assert source_files(names, "-", "") == {}


def test_a_page_has_the_first_thirty_files_of_at_most_half_a_megabyte(tmp_path: Path) -> None:
    sizes = {"largest.py": 500_000, "larger.py": 500_001, **{f"m{number}.py": 1 for number in range(31)}}
    for name, size in sizes.items():
        (tmp_path / name).write_text("#" * size, encoding="utf-8")
    found = source_files(sizes, "-", str(tmp_path))
    assert list(found) == ["largest.py", *(f"m{number}.py" for number in range(29))]


def test_a_folder_that_is_given_has_the_files_of_another_machine(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "model.py").write_text("x = 1", encoding="utf-8")
    name = "/home/someone/project/nets/model.py"
    assert source_files([name], "program.mlir", str(tmp_path)) == {name: "x = 1"}
    assert source_files([name], "program.mlir", None) == {}


def test_the_page_of_a_check_has_what_was_tried() -> None:
    program = Path("examples/mlp.mlir").read_text(encoding="utf-8")
    found = sdyopt.check(program)
    assert 'class="tried"' in found.report.to_html()
    assert 'class="tried"' not in sdyopt.parse(program).report().to_html()


def test_a_page_is_the_same_every_time() -> None:
    assert html_report(report(LOOP), LOOP, "a") == html_report(report(LOOP), LOOP, "a")


STEP = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<8x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>,
    tf.aliasing_output = 0 : i32} loc("params[0]['w']"), %b: tensor<4xf32> loc("step"))
    -> (tensor<8x8xbf16> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xbf16> loc("jit(f)/jvp()/dot")
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xbf16>
      loc("jit(f)/transpose(jvp())/dot")
  %2 = stablehlo.add %1, %1 : tensor<8x8xbf16> loc("jit(f)/transpose(jvp())/add")
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xbf16> loc("jit(f)/sub")
  %4 = stablehlo.subtract %a, %3 : tensor<8x8xbf16> loc("jit(f)/sub")
  return %4 : tensor<8x8xbf16>
}
"""


def test_a_page_has_arguments_and_results() -> None:
    found = data_of(html_report(report(STEP), STEP, "step.mlir"))["boundary"]
    rows = [[found["strings"][each] for each in row[:5]] + row[5:] for row in found["rows"]]
    assert rows == [
        ["argument", "params[0]['w']", "params[*]['w']", "bf16[8,8]", "P('x')", 64, 1, True],
        ["argument", "step", "step", "f32[4]", "P()", 16, 2, False],
        ["result", "result[0]", "result[*]", "bf16[8,8]", "P('x')", 64, 1, False],
    ]


def test_a_page_has_the_shares_of_the_parts_of_a_step() -> None:
    page = html_report(report(STEP), STEP, "step.mlir")
    assert "by part of the step: forward 64 B (20%), backward 128 B (40%), update 128 B (40%)" in page
    assert "<h3>by part of the step</h3>" in page
    data = data_of(page)
    phase = data["collectives"]["fields"].index("phase")
    phases = [data["strings"][row[phase]] for row in data["collectives"]["rows"]]
    assert phases == ["forward", "backward", "update"]
    # Without gradients, there are no such parts.
    assert "by part of the step" not in html_report(report(LOOP), LOOP, "loop.mlir")


def test_parts_of_a_step_are_unknown_without_name_stacks() -> None:
    def phases(text: str) -> list[str]:
        data = data_of(html_report(report(text), text, "step.mlir"))
        phase = data["collectives"]["fields"].index("phase")
        return [data["strings"][row[phase]] for row in data["collectives"]["rows"]]

    located = STEP.replace('"jit(f)/jvp()/dot"', '"model.py":1:1')
    assert phases(located) == ["unknown", "backward", "update"]
    assert "backward 128 B (40%), update 128 B (40%), unknown 64 B (20%)" in " ".join(
        text_report(report(located)).split()
    )
    # Without any name stack, no phase is reported.
    unknown = re.sub(r'loc\("jit[^"]*"\)', 'loc("model.py":1:1)', STEP)
    assert phases(unknown) == ["", "", ""]
    page = html_report(report(unknown), unknown, "step.mlir")
    page = page[page.index("<body") :].partition("<script>")[0]
    assert re.search("forward|backward|recomputed", page) is None


LAYER = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<8x8xf32>,
    %u: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("up"),
    %v: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("gate"),
    %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("down")) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %u out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32> loc(#at)
  %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc(#at)
  %2 = sdy.all_gather [{"x"}, {}] %v out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32> loc(#at)
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc(#at)
  %4 = sdy.all_gather [{}, {"x"}] %w out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32> loc(#at)
  %5 = stablehlo.dot_general %3, %4, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc(#at)
  return %5 : tensor<8x8xf32>
}
#at = loc("jit(f)/jvp()/dot"("model.py":1:1))
"""


def test_a_place_has_each_reason_with_its_weights() -> None:
    page = html_report(report(LAYER), LAYER, "layer.mlir")
    place = html.unescape(re.sub("<[^>]*>", "", page[page.index('<ol class="places"') : page.index("</ol>")]))
    assert "256 B in 2: up, gate are resharded from P('x') to P() for dot_general" in place
    assert "128 B in 1: down is resharded from P(None, 'x') to P() for dot_general" in place


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (
            150,
            "2 of them: up and 1 more are resharded from P('x') to P() for dot_general; "
            "the other: down is resharded from P(None, 'x') to P() for dot_general",
        ),
        (80, "2 of them: up and 1 more are resharded from P('x') to P() for dot_general"),
    ],
)
def test_a_check_says_whose_reason_it_gives(width: int, expected: str) -> None:
    [place] = places_of(report(LAYER).collectives)
    assert reasons_text(place.parts[0], width) == expected


def test_operations_with_the_same_name_have_their_lines() -> None:
    product = "stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]\n"
    body = f"  %0 = {product} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n  return\n"
    functions = [f"func.func @{name}(%a: tensor<8x8xf32>) {{\n{body}}}\n" for name in ("f", "g")]
    text = "".join(functions)
    data = data_of(html_report(report(text), text, "two.mlir"))["products"]
    rows = [dict(zip(data["fields"], row, strict=True)) for row in data["rows"]]
    assert [row["program"] for row in rows] == [2, 7]
    assert rows[0]["value"] == rows[1]["value"]


def test_the_curve_names_arguments_their_copies_and_results() -> None:
    text = LAYER.replace('loc("gate")', "").replace(
        "-> tensor<8x8xf32> {\n  %0", '-> (tensor<8x8xf32> {jax.result_info = "result[0]"}) {\n  %0'
    )
    live = data_of(html_report(report(text), text, "layer.mlir"))["live"]
    names = {live["strings"][group[0]] for group in live["groups"]}
    assert names == {
        *("argument", "argument up", "argument down", "gathered up", "gathered down", "gathered argument"),
        *("activation", "result result[*]"),
    }
    shown = [each.described for each in report(LAYER).memory.live_at_peak]
    assert {"up", "gathered gate", "%arg0"} <= set(shown)


@pytest.mark.parametrize(
    ("sharding", "spec"),
    [
        ('<@mesh, [{"x"}, {}]>', "P('x')"),
        ("<@mesh, []>", "P()"),
        ('<@mesh, [{}], unreduced={"x", "y"}>', "P(unreduced={'x', 'y'})"),
        ('<@mesh, [{"x", ?}]>', '<@mesh, [{"x", ?}]>'),
        ("", ""),
    ],
)
def test_shardings_are_shown_as_in_jax(sharding: str, spec: str) -> None:
    assert spec_of(sharding) == spec


MANUAL = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("up")) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32> loc(#at)
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>]
      manual_axes={} (%b: tensor<8x8xf32>) {
    sdy.return %b : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32> loc(#at)
  return %1 : tensor<8x8xf32>
}
#at = loc("jit(f)/shard_map"("model.py":1:1))
"""


def test_in_specs_are_a_reason() -> None:
    [place] = places_of(report(MANUAL).collectives)
    assert reasons_text(place.parts[0]) == "up is resharded from P('x') to P() for in_specs of shard_map"
