"""The check of a program: figures, places, and changes that were tried."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdyopt
from sdyopt.analysis.changes import search
from sdyopt.analysis.changes.search import TrialBudget

PROGRAM = Path(__file__).parents[2] / "lit" / "check" / "weights.mlir"


def test_a_check_has_figures_and_places() -> None:
    check = sdyopt.check(PROGRAM, device_memory="1GiB")
    assert check.wire_bytes == 768 * 1024
    assert check.fits
    assert check.report.devices == 4
    [place] = check.places
    assert place.location.short == "model.py:20"
    assert place.names == ("params[*]['up']", "params[*]['down']")
    assert place.change.startswith("no change saves 1% of the time (")
    assert len(str(check).splitlines()) == 6


def test_a_change_is_applied_and_checked_again() -> None:
    check = sdyopt.check(PROGRAM.parent / "explicit_axes.mlir")
    best = check.places[0].best
    assert (check.report.wire_bytes, check.report.peak_bytes) == (check.wire_bytes, check.peak_bytes)
    assert best is not None
    assert best.text == "write P('data', 'model') in the reshard at model.py:10"
    assert (str(best), repr(best)) == (best.text, f"<sdyopt.TriedChange: {best.text}>")
    assert str(check.places[0]).startswith(f"model.py:10: {check.places[0].wire_bytes} bytes sent; ")
    assert best.annotations[0].spec == "P('data', 'model')"
    assert sdyopt.check(best.apply()).wire_bytes < check.wire_bytes
    assert "reshard requires P('data')" in check.explain("#0")
    assert check.advise().changes[0].text == best.text


def test_a_check_shows_itself_in_a_notebook() -> None:
    html = sdyopt.check(PROGRAM)._repr_html_()
    assert "communication<strong>768.0 KiB</strong>sent by each of 4 devices" in html
    assert "params[*][&#x27;up&#x27;]" in html


def test_a_function_is_lowered_for_its_arguments() -> None:
    class Jitted:
        def lower(self, *arguments: int, **keywords: int) -> Path:
            assert (arguments, keywords) == ((1, 2), {"key": 3})
            return PROGRAM

    assert sdyopt.check(Jitted(), 1, 2, key=3).wire_bytes == 768 * 1024


def test_a_function_on_an_abstract_mesh_is_lowered_for_tpus() -> None:
    class Traced:
        def lower(self, lowering_platforms: tuple[str, ...]) -> Path:
            assert lowering_platforms == ("tpu",)
            return PROGRAM

    class Jitted:
        def lower(self, *arguments: int) -> Path:
            raise ValueError("Passing lowering_platforms via jax.export is required")

        def trace(self, *arguments: int) -> Traced:
            return Traced()

    assert sdyopt.check(Jitted(), 1).wire_bytes == 768 * 1024


def test_a_malformed_size_of_memory() -> None:
    with pytest.raises(ValueError, match="'large' is not a size of memory"):
        sdyopt.check(PROGRAM, device_memory="large")


def test_a_sweep_has_typed_rows_and_json() -> None:
    sweep = sdyopt.mesh_sweep(PROGRAM, "x=2..4", device_memory="1GiB")
    assert [row.sizes for row in sweep.rows] == [{"x": 2}, {"x": 4}]
    assert sweep.rows[1].wire_bytes == sdyopt.check(PROGRAM).wire_bytes
    assert sweep.rows[0].seconds is None
    assert sweep.best == sweep.rows
    data = sweep.to_dict()
    assert (data["schema"], data["version"], data["device_memory"]) == ("sdy-opt-mesh-sweep", 1, 1 << 30)
    assert data["meshes"][1]["peak_bytes"] == sweep.rows[1].peak_bytes
    assert data["meshes"][1]["fits"]
    assert repr(sweep) == "<sdyopt.MeshSweep: 2 meshes>"


def test_a_sweep_has_the_memory_of_its_topology(tmp_path: Path) -> None:
    assert sdyopt.mesh_sweep(PROGRAM, "x=2", topology="tpu-v5e").to_dict()["device_memory"] == 63 << 28
    topology = tmp_path / "topology.toml"
    topology.write_text('bandwith = "1 GB/s"')
    with pytest.raises(sdyopt.ParseError) as error:
        sdyopt.mesh_sweep(PROGRAM, "x=2,4", topology=topology)
    [diagnostic] = error.value.diagnostics
    assert (diagnostic.id, diagnostic.location.line) == ("topology-error", 1)


def test_options_of_advice_are_checked() -> None:
    module = sdyopt.parse(PROGRAM)
    with pytest.raises(ValueError, match="partitioner is 'xla' or 'sdy', not 'gspmd'"):
        module.advise(partitioner="gspmd")
    with pytest.raises(ValueError, match="changes is at least 1, not 0"):
        module.advise(changes=0)


def test_a_check_of_a_large_program_says_what_it_has_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    program = PROGRAM.parents[3] / "examples" / "transformer_train.mlir"
    monkeypatch.setattr(search, "BUDGET", TrialBudget(0, 2, 2))
    places = sdyopt.check(program).places
    texts = [place.change for place in places if "saves 1%" in place.change]
    assert texts
    assert all(", others not)" in each for each in texts)
