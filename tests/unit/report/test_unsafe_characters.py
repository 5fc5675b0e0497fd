"""Characters that reorder text are in no file for people, and JSON has them as escapes."""

import json
from pathlib import Path

import pytest

from sdyopt.tools.cli import main

NAME = "a\u202eb"
PROGRAM = f"""
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}} loc("{NAME}"))
    -> tensor<8xf32> {{
  %0 = sdy.sharding_constraint %a <@mesh, [{{}}]> : tensor<8xf32> loc("{NAME}"("f{NAME}.py":1:1))
  return %0 : tensor<8xf32>
}}
"""


@pytest.mark.parametrize("flag", ["--report=r.html", "--report=r.json", "--snapshot=r.json", "--report=r.md"])
def test_no_file_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flag: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.mlir").write_text(PROGRAM, encoding="utf-8")
    assert main(["program.mlir", flag, "-o", "out.mlir"]) == 0
    name = flag.partition("=")[2]
    text = Path(name).read_text(encoding="utf-8")
    assert "\u202e" not in text
    if name.endswith(".json"):
        assert NAME in json.dumps(json.loads(text), ensure_ascii=False)
