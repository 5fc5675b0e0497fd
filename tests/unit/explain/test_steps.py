"""The steps of propagation: the table of a step, the data of the page, and the page."""

import json
import re

import pytest

from sdyopt.analysis.explain.names import RecordedProgram, sharding_text
from sdyopt.analysis.explain.steps import analysis as step_data_module
from sdyopt.analysis.explain.steps.analysis import AFTER, BEFORE, StepData, factor_table, steps_page
from sdyopt.analysis.sharding_record.model import Step
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import parse_passes
from sdyopt.mlir.registry import dialect_table, lookup

MATMUL = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", ?}]>}) -> tensor<8x32xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.negate %0 : tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}
"""


def explained(text: str, name: str = "program.mlir") -> RecordedProgram:
    source, dialects, parse_record = Source(name, text), dialect_table(), ParseRecord()
    module, _ = parse_module(source, dialects, ParseOptions(), parse_record)
    program = RecordedProgram(source, module, dialects, parse_record)
    with program.recording():
        assert run_pipeline(parse_passes("sdy-propagation-pipeline", lookup), module)
    return program


def data_of(page: str) -> StepData:
    found = re.search('<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    found = found or re.search('<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return StepData(**json.loads(found[1])["steps"])


def test_the_table_of_a_product_has_its_factors_and_what_it_refuses() -> None:
    [run] = explained(MATMUL).record.runs
    steps = [cause for cause in run.changes_of if isinstance(cause, Step)]
    table = factor_table(next(step for step in steps if step.site.op_name == "stablehlo.dot"))
    assert table.factors == (("i", 8, "pass-through"), ("j", 32, "pass-through"), ("k", 16, "reduction"))
    assert table.rows == (
        ("[i, k]", (('"x"', "", True), None, ('"y"', "", True))),
        ("[k, j]", (None, ('"x"', "", False), ("", "", True))),
        ("[i, j]", (("", "", False), ("", '"x"', False), None)),
    )
    b, product = f"{BEFORE}1{AFTER}", f"{BEFORE}2{AFTER}"
    assert table.reasons[1:] == (
        f'"x" does not propagate to dimension 0 of {product}: "x" shards dimension 1 of {product}',
        f'"y" does not propagate to dimension 0 of {b}: dimension 0 of {b} is closed',
    )


def test_a_reason_names_the_first_axis_that_is_refused() -> None:
    """The others are refused because it is."""
    text = """
        sdy.mesh @mesh = <["x"=2, "y"=4]>
        func.func @main(
            %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>},
            %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x8xf32> {
          %0 = stablehlo.add %a, %b : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }"""
    [run] = explained(text).record.runs
    step, *_ = [cause for cause in run.changes_of if isinstance(cause, Step)]
    where = f"dimension 0 of {BEFORE}1{AFTER}"
    assert factor_table(step).reasons == (f'"x" does not propagate to {where}: {where} is closed',)


def test_replaying_the_steps_gives_the_final_shardings() -> None:
    program = explained(MATMUL)
    data = data_of(steps_page(program))
    values: list[list[str]] = json.loads(json.dumps(data.values))
    shown: dict[str, object] = {}
    for _, _, _, changes in json.loads(json.dumps(data.steps)):
        for value, before, after in changes:
            name = values[value][0]
            assert shown.get(name) == (data.shardings[before] if before >= 0 else None)
            shown[name] = data.shardings[after]
    [run] = program.record.runs
    final = {
        program.names.in_function("main").subject(run, subject): sharding_text(sharding)
        for subject, sharding in run.final.items()
        if sharding is not None and any(sharding.axis_refs)
    }
    assert shown == final


def test_the_program_cannot_end_the_script_or_start_a_tag() -> None:
    text = MATMUL.replace("@main", '@"</script><script>alert(1)</script>"').replace("%a", "%ab")
    page = steps_page(explained(text, "<b>.mlir"))
    assert page.count("</script>") == 3
    assert "<title>&lt;b&gt;" in page
    assert "<script>alert" not in page


def test_of_more_steps_only_the_first_are_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = data_of(steps_page(explained(MATMUL)))
    monkeypatch.setattr(step_data_module, "MAX_STEPS", 2)
    part = data_of(steps_page(explained(MATMUL)))
    assert part.steps == whole.steps[:2]
    assert part.count == whole.count == len(whole.steps)


def test_a_page_is_deterministic() -> None:
    assert steps_page(explained(MATMUL)) == steps_page(explained(MATMUL))


def test_the_page_has_no_unprintable_characters() -> None:
    page = steps_page(explained(MATMUL.replace('"x"', '"x\u202e\\1B"')))
    assert "x\ufffd\ufffd" in page
    assert all(
        character.isprintable() for character in page.replace("\n", "").replace(BEFORE, "").replace(AFTER, "")
    )
