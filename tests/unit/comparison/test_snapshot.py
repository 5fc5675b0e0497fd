"""Snapshots: what is written is read again, and each difference is one error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sdyopt
from sdyopt.analysis.comparison.snapshot.analysis import SHOWN, sharding_text_of

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @small = <["z"=2]>
func.func @main(
    %a: tensor<8x8xf32>
      {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {"y":(2)2}], replicated={"y":(1)2}>} loc("a"),
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@small, [{"z"}]>} loc("b"),
    %c: tensor<8xf32> {mhlo.sharding = "{devices=[8]<=[8]}"}, %t: !stablehlo.token) -> tensor<8xf32> {
  %0 = stablehlo.tanh %b : tensor<8xf32> loc("tanh"("model.py":1:1))
  return %0 : tensor<8xf32>
}
"""


def test_what_a_sharding_consists_of() -> None:
    arguments = json.loads(sdyopt.parse(PROGRAM).snapshot())["functions"]["main"]["arguments"]
    assert arguments == [
        {
            "name": "a",
            "type": "tensor<8x8xf32>",
            "sharding": [["x"], ["y:(2)2"]],
            "open": [0],
            "priorities": {"0": 1},
            "replicated": ["y:(1)2"],
        },
        {"name": "b", "type": "tensor<8xf32>", "sharding": [["z"]], "mesh": "small"},
        {"type": "tensor<8xf32>", "sharding": "{devices=[8]<=[8]}"},
        {"type": "!stablehlo.token", "sharding": None},
    ]
    assert [sharding_text_of(argument) for argument in arguments] == [
        '[{"x", ?}p1, {"y":(2)2}], replicated={"y":(1)2}',
        '[{"z"}] on small',
        "{devices=[8]<=[8]}",
        "none",
    ]


def test_a_program_is_like_its_snapshot(tmp_path: Path) -> None:
    module, path = sdyopt.parse(PROGRAM), tmp_path / "shardings.json"
    path.write_text(module.snapshot(), encoding="utf-8")
    assert module.check_snapshot(path) == ()
    # So is a program with a name that is not UTF-8.
    strange = sdyopt.parse(PROGRAM.replace('loc("b")', 'loc("\\\\FF")'))
    path.write_text(strange.snapshot(), encoding="utf-8")
    assert strange.check_snapshot(path) == ()


def test_arguments_that_are_inserted(tmp_path: Path) -> None:
    """The arguments after a new one are those of the snapshot."""
    path = tmp_path / "shardings.json"
    path.write_text(sdyopt.parse(PROGRAM).snapshot(), encoding="utf-8")
    changed = PROGRAM.replace("%b: tensor<8xf32>", '%new: tensor<4xf32> loc("new"), %b: tensor<8xf32>')
    [difference] = sdyopt.parse(changed).check_snapshot(path)
    assert difference.id == "snapshot-difference"
    assert difference.message == ("argument 1 new of @main, f32[4] P(): the snapshot does not have it")
    path.write_text(sdyopt.parse(changed).snapshot(), encoding="utf-8")
    [difference] = sdyopt.parse(PROGRAM).check_snapshot(path)
    assert difference.message.endswith("the program does not have it")


def layers(count: int, axis: str = "x", changed: int = 0) -> str:
    """A program with as many equal layers, some of which are sharded along another axis."""
    lines = []
    for number in range(count):
        used = "y" if number < changed else axis
        sharding = f'<[<@mesh, [{{"{used}"}}]>]>'
        lines.append(
            f"  %{number + 1} = stablehlo.tanh %{number} {{sdy.sharding = #sdy.sharding_per_value{sharding}}}"
            f' : tensor<8xf32> loc("layer/tanh"("model.py":{number + 1}:1))'
        )
    return "\n".join(
        [
            'sdy.mesh @mesh = <["x"=2, "y"=2]>',
            "func.func @main(%0: tensor<8xf32>) -> tensor<8xf32> {",
            *lines,
            f"  return %{count} : tensor<8xf32>",
            "}",
        ]
    )


def test_equal_values_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "shardings.json"
    path.write_text(sdyopt.parse(layers(6)).snapshot(), encoding="utf-8")
    [entry] = json.loads(path.read_text(encoding="utf-8"))["values"]
    assert entry["count"] == 6
    [difference] = sdyopt.parse(layers(6, changed=2)).check_snapshot(path)
    assert "sharding of 2 of 6 values changed from P('x') to P('y')" in difference.message
    assert difference.location.line == 1
    [difference] = sdyopt.parse(layers(6, axis="y")).check_snapshot(path)
    assert "sharding changed from P('x') to P('y')" in difference.message
    [difference] = sdyopt.parse(layers(8)).check_snapshot(path)
    assert difference.message == (
        "2 values layer/tanh (model.py), f32[8] P('x'): the snapshot does not have it"
    )
    [difference] = sdyopt.parse(layers(5)).check_snapshot(path)
    assert difference.message.endswith("the program does not have it")


def test_many_differences_are_cut(tmp_path: Path) -> None:
    """The last error says how many more there are, and how to update the snapshot."""
    path = tmp_path / "shardings.json"

    def program(axis: str) -> sdyopt.Module:
        sharding = f'{{sdy.sharding = #sdy.sharding<@mesh, [{{"{axis}"}}]>}}'
        arguments = ", ".join(f"%{n}: tensor<{n + 1}xf32> {sharding}" for n in range(SHOWN + 3))
        return sdyopt.parse(f'sdy.mesh @mesh = <["x"=2, "y"=2]>\nfunc.func @f({arguments}) {{ return }}')

    path.write_text(program("x").snapshot(), encoding="utf-8")
    *shown, last = program("y").check_snapshot(path)
    assert len(shown) == SHOWN
    assert {difference.help for difference in shown} == {""}
    assert last.message == "3 more differences from the snapshot"
    assert last.help == f"if this is intended, write the snapshot again with --snapshot={path}"


def test_private_functions_are_no_interface() -> None:
    """A pass may copy, rename and remove them."""
    assert json.loads(sdyopt.parse("func.func private @f(tensor<8xf32>)").snapshot())["functions"] == {}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "sdy-opt-snapshot", "version": 1}', '{"a": '])
def test_files_that_are_no_snapshots(tmp_path: Path, text: str) -> None:
    path = tmp_path / "shardings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(sdyopt.ParseError) as caught:
        sdyopt.parse(PROGRAM).check_snapshot(path)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.id == "snapshot-error"
    assert diagnostic.help == "write a snapshot with --snapshot=FILE.json"
    assert diagnostic.location.file == str(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sharding", 1),
        ("sharding", [1]),
        ("open", "x"),
        ("priorities", [1]),
        ("mesh", 1),
        ("count", -1),
        ("at", 0),
    ],
)
def test_fields_that_are_wrong(tmp_path: Path, field: str, value: object) -> None:
    path = tmp_path / "shardings.json"
    data = json.loads(sdyopt.parse(PROGRAM).snapshot())
    data["values"][0][field] = value
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(sdyopt.ParseError):
        sdyopt.parse(PROGRAM).check_snapshot(path)
