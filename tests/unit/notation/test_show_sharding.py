"""The command: the example of the documentation, its width, and what a run without it imports."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sdyopt.base.diagnostics.location import Source
from sdyopt.shardy.notation.drawing import drawing
from sdyopt.shardy.notation.mesh_text import parse_mesh, parse_shape
from sdyopt.shardy.notation.reading import MeshAndShape, read_sharding
from sdyopt.tools.cli import main

ROOT = Path(__file__).parents[3]


def shown(text: str, mesh: str, shape: str, width: int = 80, rows: int | None = 16) -> str:
    context = MeshAndShape(parse_mesh(Source("--mesh", mesh)), parse_shape(Source("--shape", shape)))
    return drawing(read_sharding(Source("--show-sharding", text), context), width, rows)


def test_the_example_of_the_documentation_is_the_output_of_its_command(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    page = (ROOT / "docs/notation.md").read_text(encoding="utf-8")
    example = re.search(r"```console\n\$ sdy-opt (.*?)\n(.*?)```", page, re.DOTALL)
    assert example is not None
    assert main(shlex.split(example[1])) == 0
    assert capfdbinary.readouterr().out.decode() == example[2]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_other_than_notations_fit_the_terminal(width: int) -> None:
    for text in ("P('x', 'y')", "P(('x', 'y'))", "P(None, None)", "P('x', unreduced={'y'})", "{manual}"):
        for mesh in ("x=2,y=2", "x=16,y=16", "x=3,y=40"):
            above, _, notations = shown(text, mesh, "4096x4096", width).rpartition("\n\n")
            assert max(map(len, above.splitlines())) <= width
            assert notations.startswith("sdy ")


def test_every_shard_is_shown_on_request() -> None:
    assert "… and 84 more shards" in shown("P('x')", "x=100", "100x4x4")
    assert "… and" not in shown("P('x')", "x=100", "100x4x4", rows=None)
    # A grid shows rows of shards.
    assert "… and 336 more shards" in shown("P('x', 'y')", "x=100,y=4", "100x4")


def test_long_lists_of_devices_are_cut() -> None:
    text = shown("P('x')", f"x=128, device_ids={[*range(1, 128), 0]}", "128")
    assert "device_ids=[1, 2, 3" in text and "64, …]>" in text and "63,64…}" in text
    assert "127,0}" in shown("P('x')", f"x=128, device_ids={[*range(1, 128), 0]}", "128", rows=None)


def test_control_characters_are_replaced() -> None:
    assert "\x1b" not in shown('<@mesh, [{"\x1b"}]>', '"\x1b"=2', "4")


def test_large_meshes_need_little_time_and_memory() -> None:
    """They do not grow with the number of devices, 2^60, or with the number of shards."""
    for text in ("P('x', 'y')", "P('x', unreduced={'y'})", "P(None)", "{replicated}", "{unreduced}"):
        assert "tensor" in shown(text, "x=1073741824,y=1073741824", "4611686018427387904x4611686018427387904")


def test_other_runs_do_not_import_notations() -> None:
    code = (
        "import sys; from sdyopt.tools.cli import main; main(['benchmarks/small.mlir', '-o', '/dev/null']);"
        "print([name for name in sys.modules if name.startswith('sdyopt.shardy.notation')])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("text", "mesh", "devices"),
    [
        ("P('x')", "x=2,y=4", "0-3"),
        ("P('x')", "y=2,x=2", "0, 2"),
        ("P('x')", "y=8,x=2", "0, 2, … 14"),
        ("P('x')", "y=2,x=2,z=3", "0-2, 6-8"),
        ("P('x', unreduced={'y'})", "x=2,y=2", "0 + 1"),
        ("P('x', unreduced={'y'})", "x=2,y=2,z=2", "(0, 1) + (2, 3)"),
        ("P('x', unreduced={'y'})", "x=2,y=2,z=3", "0-2 + 3-5"),
        ("P('x')", "x=2,y=1024", "0-1023"),
        ("P('x')", "y=1024,x=2", "0, 2, … 2046"),
    ],
)
def test_devices_of_the_first_shard(text: str, mesh: str, devices: str) -> None:
    """Runs and progressions of replicated devices are shortened."""
    grid = [line for line in shown(text, mesh, "8").splitlines() if line.startswith("│")]
    assert [cell.strip() for cell in grid[1].split("│")][1] == devices
