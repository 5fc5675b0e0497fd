"""Substitutions in RUN lines."""

from pathlib import Path

import pytest

from sdyopt.tools.lit.directives import MalformedCaseError, Substitutions, temporary_path

PATHS = Substitutions(Path("lit/a.mlir"), Path("tmp/lit/a.mlir.tmp"))


@pytest.mark.parametrize(
    ("word", "replaced"),
    [
        ("%s", "lit/a.mlir"),
        ("%S/Inputs/b.mlir", "lit/Inputs/b.mlir"),
        ("%p", "lit"),
        ("%t.mlir", "tmp/lit/a.mlir.tmp.mlir"),
        ("%T", "tmp/lit"),
        ("%basename_t", "a.mlir"),
        ("100%%", "100%"),
        ("%0 = %arg0, %{{.*}}", "%0 = %arg0, %{{.*}}"),  # SSA names and patterns
    ],
)
def test_substitutions_of_paths(word: str, replaced: str) -> None:
    assert PATHS.replace(word) == replaced


@pytest.mark.parametrize("word", ["%q", "%{pathsep}", "%if", "%(line)", "%/s"])
def test_an_unknown_substitution_is_an_error(word: str) -> None:
    with pytest.raises(MalformedCaseError, match="unknown substitution"):
        PATHS.replace(word)


def test_declared_substitutions() -> None:
    """A project can declare its own, of several words; the longest name is replaced first."""
    declared = {"%opt": "sdy-opt --color=never", "%opt-cse": "%opt -cse", "%root": r"C:\new"}
    substitutions = Substitutions(Path("a.mlir"), Path("tmp"), declared)
    assert substitutions.expand("%opt-cse %s") == "sdy-opt --color=never -cse %s"
    assert substitutions.expand("%option %root") == r"%option C:\new"


def test_temporary_paths_differ_by_folder() -> None:
    """Tests of one name in several folders have different ones; a test may be outside the root folder."""
    assert temporary_path(Path("tmp"), Path("lit/a.mlir")) == Path("tmp/lit/a.mlir.tmp")
    assert temporary_path(Path("tmp"), Path("/other/a.mlir")) == Path("tmp/other/a.mlir.tmp")
