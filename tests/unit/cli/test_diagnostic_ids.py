"""The ids of diagnostics by example: what a tool reads from --diagnostics-output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sdyopt.tools.cli import main

MESH = 'sdy.mesh @mesh = <["x"=2]>\n'
SHARDED = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
FUNCTION = "func.func @main() {\n  return\n}\n"
CONTRACTION = MESH + (
    'func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {\n'
    "  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0]\n"
    "    : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>\n"
    "  return %0 : tensor<f32>\n"
    "}\n"
)
CUSTOM_CALL = MESH + (
    f"func.func @main(%x: tensor<8xf32> {SHARDED}) -> tensor<8xf32> {{\n"
    "  %0 = stablehlo.custom_call @foo(%x) : (tensor<8xf32>) -> tensor<8xf32>\n"
    "  return %0 : tensor<8xf32>\n"
    "}\n"
)
FAILING = "--pass-pipeline=builtin.module(func.func(symbol-dce))"
REPORT = ["-sdy-propagation-pipeline=enable-insert-explicit-collectives=true", "--report"]


def ids(folder: Path, program: str | bytes, *flags: str) -> list[str]:
    """The ids of the diagnostics of a run, with the pass if there is one."""
    source, output = folder / "in.mlir", folder / "out.json"
    source.write_bytes(program if isinstance(program, bytes) else program.encode())
    main([str(source), *flags, f"--diagnostics-output={output}"])
    found = json.loads(output.read_text(encoding="utf-8"))["diagnostics"]
    return [f"{each['id']} in {each['pass']}" if each["pass"] else each["id"] for each in found]


@pytest.mark.parametrize(
    ("program", "flags", "expected"),
    [
        (FUNCTION, ["-cze"], ["usage-error"]),
        (FUNCTION, ["--pass-pipeline=builtin.module(cze)"], ["usage-error"]),
        (FUNCTION, ["--budget=missing.toml"], ["file-error"]),
        (b"ML\xefR", [], ["parse-error"]),
        (b"\xff", [], ["input-error"]),
        ("func.func @f(", [], ["parse-error"]),
        ("module {" * 2000, [], ["parse-error"]),
        (MESH + MESH, [], ["verify-error/sdy.mesh"]),
        ('"a.b"() : () -> ()', ["--allow-unregistered-dialect=false"], ["parse-error"]),
        (f"{FUNCTION}// ---\n", ["--split-input-file"], ["split-marker"]),
        (FUNCTION, ["--pass-pipeline=func.func(cse)"], ["pipeline-error"]),
        (
            FUNCTION,
            ["--pass-pipeline=builtin.module(func.func(symbol-dce))"],
            ["pass/symbol-dce in symbol-dce"],
        ),
        (CUSTOM_CALL, ["-sdy-basic-propagate"], ["unknown-sharding-rule in sdy-basic-propagate"]),
        (
            "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
            "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
            "  return %0 : tensor<8xf32>\n"
            "}\n",
            ["-sdy-basic-propagate"],
            ["no-sharding in sdy-basic-propagate"],
        ),
        (
            MESH + "func.func @main(%x: tensor<8xf32> {sdy.shardng = 1 : i32}) { return }\n",
            ["-sdy-basic-propagate"],
            ["unknown-attribute in sdy-basic-propagate"],
        ),
        (FUNCTION, ["-canonicalize=enable-patterns=x"], ["unknown-pattern in canonicalize"]),
        (FUNCTION, ["--mlir-print-ir-after=cse"], ["pass-not-run"]),
        (FUNCTION, ["--tolerance=3"], ["flag-without-effect"]),
        (FUNCTION + "// expected-error {{no}}\n", ["--verify-diagnostics"], ["missing-diagnostic"]),
        ("func.func @f(", ["--verify-diagnostics"], ["unexpected-diagnostic"]),
    ],
)
def test_ids_of_diagnostics(
    tmp_path: Path, program: str | bytes, flags: list[str], expected: list[str]
) -> None:
    assert ids(tmp_path, program, *flags) == expected


def test_the_id_of_a_failed_pipeline(tmp_path: Path) -> None:
    found = ids(
        tmp_path,
        FUNCTION,
        FAILING,
        f"--mlir-pass-pipeline-crash-reproducer={tmp_path / 'made.mlir'}",
    )
    assert found == ["pass/symbol-dce in symbol-dce", "reproducer in symbol-dce"]


def test_the_id_of_a_dump_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    found = ids(tmp_path, FUNCTION, f"-sdy-export-pipeline=dump-directory={file}")
    assert set(found) == {"dump-failed in sdy-save-module"}


def test_the_ids_of_budgets_and_baselines(tmp_path: Path) -> None:
    budget, baseline = tmp_path / "budget.toml", tmp_path / "baseline.json"
    budget.write_text("[total]\ncollectives = 0\n", encoding="utf-8")
    assert ids(tmp_path, CONTRACTION, *REPORT, f"--budget={budget}") == ["budget-exceeded"]
    budget.write_text("[sum]\n", encoding="utf-8")
    assert ids(tmp_path, CONTRACTION, *REPORT, f"--budget={budget}") == ["budget-error"]
    baseline.write_text("{}", encoding="utf-8")
    assert ids(tmp_path, CONTRACTION, *REPORT, f"--baseline={baseline}") == ["baseline-error"]
    assert ids(tmp_path, MESH + FUNCTION, f"--report={baseline}") == []
    found = ids(tmp_path, CONTRACTION, *REPORT, f"--baseline={baseline}")
    assert set(found) == {"baseline-exceeded"}


@pytest.mark.parametrize("more", [[], ["-cze"], ["--verify-each=x"]])
def test_the_input_is_not_overwritten(
    tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Even if there is another usage error."""
    source = tmp_path / "in.mlir"
    source.write_text(FUNCTION, encoding="utf-8")
    assert main([str(source), f"--diagnostics-output={source}", *more]) == 2
    assert source.read_text(encoding="utf-8") == FUNCTION
    assert more or "is also the input" in capsys.readouterr().err


def test_another_output_is_not_overwritten(tmp_path: Path) -> None:
    source, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(FUNCTION, encoding="utf-8")
    output.write_text("an earlier result", encoding="utf-8")
    assert main([str(source), "-o", str(output), f"--diagnostics-output={output}"]) == 2
    assert output.read_text(encoding="utf-8") == "an earlier result"
