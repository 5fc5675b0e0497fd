"""The registry: registration, look-up by name with minimal imports, discovery."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from sdyopt.mlir import registry
from sdyopt.mlir.dialects import dialect_names
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.pipeline import Pass, UsageError, option
from sdyopt.mlir.registry import discovery, plugins, table


@pytest.fixture(autouse=True)
def _restore_tables() -> Iterator[None]:
    # Modules are imported once, so the tables must keep their entries for later tests.
    registry.import_passes()
    entries, dialects = dict(table.entries), dict(discovery._added_dialects)
    yield
    for each, before in ((table.entries, entries), (discovery._added_dialects, dialects)):
        each.clear()
        each.update(before)  # type: ignore[arg-type]  # the types match per table


def test_registered_passes_are_dataclasses_of_their_options() -> None:
    @registry.register("test-adds")
    class Adds(Pass):
        """test-adds: adds a number."""

        how_much: int = option(default=1, help="the number")

        def run(self, op: Any) -> bool:
            return False

    entry = registry.lookup("test-adds")
    assert str(Adds(how_much=3)) == "test-adds{how-much=3}"
    assert [str(built) for built in entry.build("how-much=4")] == ["test-adds{how-much=4}"]
    assert entry.manual == "test-adds: adds a number."
    with pytest.raises(AttributeError):
        Adds().how_much = 2  # type: ignore[misc]  # frozen, as tested


def test_a_cell_of_a_notebook_can_define_a_pass_again() -> None:
    def run_cell(module: str) -> type[Pass]:
        cls = type("Again", (Pass,), {"__module__": module, "__doc__": "test-again: runs again."})
        return registry.register("test-again")(cls)

    run_cell("__main__")
    second = run_cell("__main__")
    entry = registry.lookup("test-again")
    assert isinstance(entry, registry.PassEntry)
    assert entry.pass_class is second
    with pytest.raises(UsageError, match="'test-again' is defined twice, by __main__ and by sys"):
        run_cell("sys")


def test_pipelines_get_the_defaults_of_their_options() -> None:
    given = []

    @registry.register_pipeline("test-pipeline")
    def pipeline(deep: bool = option(default=False, help="deeper")) -> list[Pass]:
        given.append(deep)
        return []

    pipeline()
    pipeline(deep=True)
    registry.lookup("test-pipeline").build("deep=true")
    assert given == [False, True, True]


def test_flags_are_unique() -> None:
    registry.register("test-twice")(type("First", (Pass,), {}))
    with pytest.raises(UsageError, match="'test-twice' is defined twice"):
        registry.register("test-twice")(type("Second", (Pass,), {}))


def test_unknown_names_suggest_the_most_similar_one() -> None:
    registry.register("test-some-pass")(type("Some", (Pass,), {}))
    with pytest.raises(UsageError) as caught:
        registry.lookup("test-smoe-pass")
    assert caught.value.help == "did you mean 'test-some-pass'?"


@pytest.mark.parametrize(
    "flag",
    [
        "affine-loop-fusion",
        "arith-expand",
        "buffer-hoisting",
        "buffer-deallocation-pipeline",
        "convert-func-to-llvm",
        "convert-scf-to-cf",
        "convert-to-llvm",
        "duplicate-function-elimination",
        "eliminate-empty-tensors",
        "expand-realloc",
        "fold-memref-alias-ops",
        "gpu-kernel-outlining",
        "linalg-fuse-elementwise-ops",
        "lower-affine",
        "lower-vector-mask",
        "loop-invariant-subset-hoisting",
        "mem2reg",
        "normalize-memrefs",
        "one-shot-bufferize",
        "outline-shape-computation",
        "ownership-based-buffer-deallocation",
        "resolve-shaped-type-result-dims",
        "set-llvm-module-datalayout",
        "sparsifier",
        "sroa",
        "stage-sparse-ops",
        "tosa-to-linalg",
        "trivial-dce",
        "vector-bufferize",
        "view-op-graph",
    ],
)
def test_passes_of_mlir_opt_are_said_to_be_theirs(flag: str) -> None:
    with pytest.raises(UsageError) as caught:
        registry.lookup(flag)
    assert caught.value.help == "this is a pass of mlir-opt, which sdy-opt does not have"


@pytest.mark.parametrize(
    "flag",
    [
        "shape-legalize-to-stablehlo",
        "stablehlo-compatibility-expander",
        "stablehlo-complex-math-expander",
        "stablehlo-convert-to-signless",
        "stablehlo-legalize-deprecated-ops",
        "stablehlo-legalize-to-linalg",
        "stablehlo-legalize-quant-to-math",
        "stablehlo-wrap-in-composite",
    ],
)
def test_passes_of_stablehlo_opt_are_said_to_be_theirs(flag: str) -> None:
    with pytest.raises(UsageError) as caught:
        registry.lookup(flag)
    assert caught.value.help == "this is a pass of stablehlo-opt, which sdy-opt does not have"


def test_every_pass_is_in_a_file_named_after_its_flag() -> None:
    for entry in registry.all_passes():
        if isinstance(entry, registry.PassEntry) and entry.module.split(".")[0] in ("passes", "sdyopt"):
            name = entry.module.rpartition(".")[2]
            # A pass that LLVM has renamed is in the file of the pass with the older name.
            flags = [entry.flag, getattr(entry.pass_class.__base__, "flag", entry.flag)]
            prefixes = [re.match(r"xla-sdy|stablehlo-ext|[a-z]+", flag) for flag in flags]
            names = {name, *(f"{prefix[0]}_{name}".replace("-", "_") for prefix in prefixes if prefix)}
            assert names & {flag.replace("-", "_") for flag in flags}


def test_a_pass_is_found_without_importing_the_others() -> None:
    program = (
        "import sys; from sdyopt.mlir import registry; registry.find_entry('symbol-dce');"
        "print(*sorted(name for name in sys.modules if name.startswith('passes.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["passes.common", "passes.common.symbol_dce"]


def offer(monkeypatch: pytest.MonkeyPatch, group: str, value: str) -> None:
    """Fakes an installed package with an entry point `mine`."""
    found = EntryPoints([EntryPoint("mine", value, group)])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: found.select(group=group))


MY_PASSES = """
from sdyopt.mlir import registry
from sdyopt.mlir.pipeline import Pass

registry.register("test-of-plugin")(type("OfPlugin", (Pass,), {}))
"""


def test_a_pass_plugin_is_loaded_by_the_name_of_its_entry_point(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "my_passes.py").write_text(MY_PASSES, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    offer(monkeypatch, discovery.PASS_GROUP, "my_passes")
    with pytest.raises(UsageError) as caught:
        registry.lookup("test-of-plugin")
    assert caught.value.help == "a pass of an installed plugin needs --load-pass-plugin=mine"
    plugins.load_pass_plugin("mine")
    assert registry.find_entry("test-of-plugin") is not None
    with pytest.raises(UsageError) as caught:
        registry.lookup("entirely-unlike-any-name")
    assert "plugin" not in caught.value.help
    with pytest.raises(UsageError, match="Failed to load passes from 'mien'") as caught:
        plugins.load_pass_plugin("mien")
    assert caught.value.help == "did you mean 'mine'?"


THEIRS = Dialect("theirs")
NOT_A_DIALECT = 3


def test_a_dialect_plugin_is_loaded_by_the_name_of_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    assert registry.find_dialect("theirs") is None
    offer(monkeypatch, plugins.DIALECT_GROUP, f"{__name__}:THEIRS")
    plugins.load_dialect_plugin("mine")
    assert registry.find_dialect("theirs") is THEIRS
    assert "theirs" in registry.all_dialects()


def test_plugins_that_are_no_dialects_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (f"{__name__}:NOT_A_DIALECT", f"{__name__}:MISSING", "no.such.module"):
        offer(monkeypatch, plugins.DIALECT_GROUP, value)
        with pytest.raises(UsageError, match="Failed to load dialect plugin from 'mine'"):
            plugins.load_dialect_plugin("mine")


FILE = """
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register

DIALECT = Dialect("of_file")

@register("test-of-file")
class OfFile(Pass):
    limit: int = option(default=3, help="a number")
"""


def test_a_plugin_may_be_a_file_with_passes_and_a_dialect(tmp_path: Path) -> None:
    """The file is executed once, and hides no module of its name."""
    path = tmp_path / "json.py"
    path.write_text(FILE, encoding="utf-8")
    plugins.load_pass_plugin(str(path))
    plugins.load_dialect_plugin(str(path))
    entry = registry.find_entry("test-of-file")
    assert entry is not None
    assert [option.flag for option in entry.options()] == ["limit"]
    assert registry.find_dialect("of_file") is not None
    assert json.loads("1") == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = (\n", r"plugin\.py:1:1: error: .*SyntaxError: '\(' was never closed\nx = \("),
        ("\nx = 1 / 0\n", r"plugin\.py:2:1: error: .*ZeroDivisionError: division by zero\nx = 1 / 0"),
        ("import no_such_module\n", r"plugin\.py:1:1: error: .*ModuleNotFoundError: "),
        ("", "the file defines no DIALECT"),
        ("DIALECT = 3", "the entry point is not a Dialect"),
        ("from sdyopt.mlir.ir.dialect import Dialect\nDIALECT = Dialect('sdy')", "'sdy' is defined twice"),
        (None, "No such file or directory"),
    ],
)
def test_files_that_are_no_plugins_are_errors(tmp_path: Path, text: str | None, problem: str) -> None:
    path = tmp_path / "plugin.py"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=problem):
        plugins.load_dialect_plugin(str(path))


def test_misspelled_names_of_a_module_have_help(tmp_path: Path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text("from sdyopt import plugin\n\nif True:\n    INPUT = plugin.operan\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"plugin\.py:4:5: error: .*no attribute 'operan'") as error:
        plugins.load_dialect_plugin(str(path))
    assert error.value.help == "did you mean 'operand'?"


def test_dialect_namespaces_are_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.add_dialect(THEIRS)
    with pytest.raises(UsageError, match="dialect 'theirs' is defined twice"):
        registry.add_dialect(Dialect("theirs"))


def test_every_module_among_the_dialects_is_a_dialect() -> None:
    for name in dialect_names():
        dialect = registry.find_dialect(name)
        assert dialect is not None
        assert dialect.name == name
