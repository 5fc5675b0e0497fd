"""The table of a sweep in few columns: bars are short or left out, and long notes are below the figures."""

import pytest

from sdyopt.analysis.figures.machines import machine_of_mesh
from sdyopt.analysis.mesh_sweep.sweep import Sweep, SweptMesh, note_of, read_sizes, sweep_text
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.usage import UsageError

LAYOUTS = [
    {"axes": ["y", "x"], "on": {"x": "a node (4)", "y": "a node (2) and the network (4)"}, "seconds": 1e-3},
    {"axes": ["x", "y"], "on": {"x": "the network (4)", "y": "a node (8)"}, "seconds": 2e-3},
]
ROWS = [
    SweptMesh({"x": 1, "y": 8}, "", 8, 0, 4096, 1000, seconds=3e-3),
    SweptMesh({"x": 4, "y": 8}, "", 32, 1024, 2048, 1000, seconds=2e-3, layouts=LAYOUTS),
    SweptMesh({"x": 128, "y": 8}, "h100:4x8 has fewer devices than the program"),
]
SWEEP = Sweep(
    [*ROWS, SweptMesh({"x": 3, "y": 8}, "does not divide batch", 24, 512, 1024, 9, seconds=1.0)], 4096
)


def test_a_wide_table_is_as_it_was() -> None:
    assert sweep_text(SWEEP).splitlines()[:3] == [
        "  x  y  devices     time      sent    memory",
        "  1  8        8  3.00 ms       0 B  4.00 KiB  ████████████████████  best of 8",
        "  4  8       32  2.00 ms  1.00 KiB  2.00 KiB  ██████████            best of 32",
    ]


def test_bars_are_shorter_in_fewer_columns() -> None:
    lines = sweep_text(SWEEP, 76).splitlines()
    assert lines[1] == "  1  8        8  3.00 ms       0 B  4.00 KiB  ███████  best of 8"
    assert lines[3] == "128  8  h100:4x8 has fewer devices than the program"
    assert lines[4] == "  3  8       24   1.00 s     512 B  1.00 KiB  ██       does not divide batch"


def test_what_does_not_fit_is_below() -> None:
    text = sweep_text(SWEEP, 60)
    assert text.splitlines() == [
        "  x  y  devices     time      sent    memory",
        "  1  8        8  3.00 ms       0 B  4.00 KiB  best of 8",
        "  4  8       32  2.00 ms  1.00 KiB  2.00 KiB  best of 32",
        "128  8  h100:4x8 has fewer devices than the program",
        "  3  8       24   1.00 s     512 B  1.00 KiB",
        "      does not divide batch",
        "",
        "best: fits in 4.00 KiB, least estimated time, for each",
        "  number of devices; global shapes are the same; times are",
        "  without overlap of communication and compute: --check has",
        "  their range",
        "   8 devices  x=1 × y=8  3.00 ms  0 B sent, 4.00 KiB",
        "  32 devices  x=4 × y=8  2.00 ms  1.00 KiB sent, 2.00 KiB",
        "",
        "layouts of x=4 × y=8, by the order of the axes of the mesh",
        "  1.00 ms  y, x",
        "      x on a node (4); y on a node (2) and the network (4)",
        "  2.00 ms  x, y (as it is)",
        "      x on the network (4); y on a node (8)",
    ]


def test_devices_that_most_meshes_leave_idle_are_said_once() -> None:
    idle = "8 of 32 devices of h100:4x8 are idle"
    rows = [replace(row, idle=idle) for row in SWEEP.rows]
    text = " ".join(sweep_text(replace(SWEEP, rows=rows), 100).split())
    assert idle not in text and text.count("are idle") == 1
    assert idle in sweep_text(replace(SWEEP, rows=[rows[0], *SWEEP.rows[1:]]), 100)


@pytest.mark.parametrize(
    ("topology", "devices", "text"),
    [
        ("tpu-v5e:2x4", 16, "tpu-v5e:2x4,slices=2: the mesh has 16 devices"),
        ("tpu-v5e:2x4", 15, "1 of 16 devices of tpu-v5e:2x4,slices=2 is idle"),
        ("tpu-v5e:2x4,slices=2", 16, ""),
        ("tpu-v5e", 512, ""),
    ],
)
def test_a_mesh_that_is_larger_than_a_slice_has_several(topology: str, devices: int, text: str) -> None:
    assert machine_of_mesh(topology, devices) == text


@pytest.mark.parametrize(("slices", "note"), [(1, ""), (2, "2 slices"), (3, "3 slices")])
def test_a_mesh_on_several_slices_says_so(slices: int, note: str) -> None:
    row = replace(SWEEP.rows[-1], slices=slices, unused=(), problem="")
    others = replace(SWEEP, rows=[*SWEEP.rows[:-1], row])
    assert note_of(others, row).endswith(note)
    assert ("slices" in note_of(others, row)) == (slices > 1)


@pytest.mark.parametrize("text", ["fsdp", "fsdp=", "fsdp=2 x tp", "=2", "fsdp=2 x fsdp=4", "--report"])
def test_sizes_of_axes_that_cannot_be_read_have_help(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_sizes(text)
    assert caught.value.help
