"""The hand-written documents name files, rooms and identifiers that exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from docs.files import PAGE, with_files
from sdyopt.analysis.report.sections import ACCURACY
from sdyopt.base.compilers import CPU, GPU, TPU
from sdyopt.base.diagnostics.ids import SUMMARIES
from sdyopt.mlir.registry import all_passes
from sdyopt.tools.cli.arguments import ROWS
from sdyopt.tools.cli.flags import ALIASES, FLAGS
from tests.unit.test_layering import ROOMS, STOREYS

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"),
    *("docs/README.md", "docs/versions.md"),
    *("docs/api.md", "docs/architecture.md", "docs/diagnostics.md"),
    *("docs/differences.md", "docs/lint.md", "docs/notation.md", "docs/random-modules.md", "docs/reports.md"),
    *("docs/from-jax.md", "docs/from-mlir-opt.md", "docs/ci.md", "docs/comparing.md", "docs/validation.md"),
    *("docs/explain.md", "docs/explain-steps.md"),
    *(
        "docs/writing-a-pass.md",
        "docs/writing-an-operation.md",
        "docs/writing-an-analysis.md",
        "docs/recipes.md",
    ),
    *("examples/README.md", "benchmarks/README.md"),
]
# Where the relative paths of a document start, besides its own folder.
BASES = (ROOT, *(ROOT / "sdyopt" / storey for storey in ("", "base", "mlir", "shardy", "analysis", "tools")))
SUFFIXES = (".py", ".md", ".mlir", ".lark", ".sh", ".toml")
SOURCES = ("sdyopt", "passes", "tests", "docs", "benchmarks", "examples")
# Identifiers of other tools.
FOREIGN = {"sdy_opt", "pip", "zsh_source", "fish_source"}
# What installation and the recipes create, placeholders, and names that only look like paths.
NOT_IN_THE_CHECKOUT = re.compile(
    r"^\.venv/|\.dist-info/|\bmy_package/|\btoy\b|drop_names|outer_product|\bop_count\b|unused_argument|repeated_dimensions|\bsimplify\.|^grid\.|^(out|program|relu)\.mlir$"
    r"|^verify-error/|^lint/unused|^sdy-lint\.toml$|^github/|^1/4$|^\.md$"
)


def _text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def code_spans(document: str) -> list[str]:
    """The texts in backticks, without code blocks."""
    prose = re.sub(r"^```.*?^```$", "", _text(document), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", prose)


@cache
def words_of_sources() -> frozenset[str]:
    paths = [path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")]
    return frozenset(word for path in paths for word in re.findall(r"\w+", path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_exist(document: str) -> None:
    bases = (*BASES, (ROOT / document).parent)
    paths = [span for span in code_spans(document) if re.fullmatch(r"[\w.*-]+(/[\w.*-]*)*", span)]
    paths = [span for span in paths if "/" in span or span.endswith(SUFFIXES)]
    paths = [path for path in paths if not NOT_IN_THE_CHECKOUT.search(path)]
    assert [path for path in paths if not any(True for base in bases for _ in base.glob(path))] == []


@pytest.mark.parametrize("document", ["README.md", "docs/architecture.md"])
def test_identifiers_exist(document: str) -> None:
    spans = [span for span in code_spans(document) if re.fullmatch(r"[A-Za-z_][\w.]*(\(\))?", span)]
    spans = [span for span in spans if not span.endswith(SUFFIXES) and span not in FOREIGN]
    assert [span for span in spans if not set(re.findall(r"\w+", span)) <= words_of_sources()] == []


def diagram(path: str) -> list[str]:
    """The lines of the diagram of storeys in a file, without indentation."""
    [lines] = re.findall(r"^( *)(base .*\n(?:.*‹.*\n)+)", _text(path), re.MULTILINE)
    indentation, text = lines
    return [line.removeprefix(indentation) for line in text.splitlines()]


def test_diagram_of_storeys_is_that_of_the_layering_test() -> None:
    assert diagram("docs/architecture.md") == STOREYS.strip().splitlines()


def test_diagram_of_storeys_names_every_room() -> None:
    storeys = [path for path in (ROOT / "sdyopt").iterdir() if (path / "__init__.py").exists()]
    rooms = [room for storey in storeys for room in storey.iterdir() if not room.stem.startswith("__")]
    names = {path.name for path in storeys} | {f"{room.parent.name}.{room.stem}" for room in rooms}
    assert names | {"plugin", "__main__"} == set(ROOMS)


def test_flags_exist() -> None:
    """Flags in documents exist, except those that differences.md lists as missing."""
    known = {*FLAGS, *ALIASES, *(entry.flag for entry in all_passes())}
    [missing] = re.findall(r"^\| flag \| use instead \|\n.*?\n\n", _text("docs/differences.md"), re.M | re.S)
    names = "".join(row.split("|")[1] for row in missing.strip().splitlines())
    only_in_cpp = set(re.findall(r"--([\w-]+)", names)) - {"-"}
    assert only_in_cpp
    assert only_in_cpp & known == set()
    flags = {
        flag
        for document in set(DOCUMENTS) - {"benchmarks/README.md", "docs/random-modules.md"}  # other tools
        for line in _text(document).splitlines()
        if "sdy-opt" in line or "`-" in line
        for flag in re.findall(r"(?<![\w-])--?([a-z][\w-]+)", line)
        if not re.search(r"\b(python|pip|make|pytest|uvx) ", line)
    }
    of_recipes = {"sdy-drop-names", "count-ops", "count-rows", "drop-names", "multiply-by-two"}
    assert flags - known - only_in_cpp - of_recipes - {"implicit-check-not", "xla_dump_to"} == set()


def test_the_table_of_missing_flags_is_that_of_the_driver() -> None:
    text = (ROOT / "docs/differences.md").read_text(encoding="utf-8")
    table = text.partition("| flag | use instead |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [f"| {', '.join(f'`--{name}`' for name in names)} | {instead} |" for names, instead in ROWS]
    assert table.splitlines() == rows


def test_the_table_of_ids_is_that_of_the_code() -> None:
    table = (
        _text("docs/diagnostics.md")
        .partition("| id | what it reports |\n|---|---|\n")[2]
        .partition("\n\n")[0]
    )
    assert table.splitlines() == [f"| `{id}` | {summary} |" for id, summary in SUMMARIES.items()]


def test_the_accuracy_of_reports_is_that_of_the_calibration() -> None:
    page = _text("docs/calibration.md").partition("\n<!-- ")[0]
    [programs] = re.findall(r"^(\d+) programs: ", page, re.M)
    [near] = re.findall(r"In (\d+) programs, they differ", page)
    [(in_band, _)] = re.findall(r"^(\d+) of (\d+) programs have a ratio from 0\.7 to 1\.5", page, re.M)
    assert re.findall(r"\b\d{2,}\b(?!%)", ACCURACY[CPU]) == [programs, in_band, near]
    for compiler in (TPU, GPU):
        section = _text("docs/calibration.md").partition(f"<!-- {compiler} -->")[2]
        figures = [
            re.findall(rf"^\| {figure} \| (\d+) of (\d+) \|", section, re.M)[0]
            for figure in (r"wire bytes [^|]*", r"HBM peak [^|]* 16 MiB")
        ]
        assert re.findall(r"in (\d+) of (\d+) above", ACCURACY[compiler]) == figures


def test_the_list_of_files_is_current() -> None:
    """If it is not, `make docs` writes it."""
    text = PAGE.read_text(encoding="utf-8")
    assert with_files(text) == text
